"""compare between dumps that do not call things alike: mapping files and merged projections, on dumps with data."""

import json
import os
import unittest

from runs import RunTest, floats, npy


class Dump:
    """A dump of task tensor under construction. Values are lists; a list of lists is a matrix."""

    def __init__(self, test, side, level="L0"):
        self.test, self.folder, self.level, self.data = test, os.path.join(side, "step0", "rank0"), level, {}

    def tensor(self, key, values, suffix):
        rows = values if isinstance(values[0], list) else [values]
        flat = [each for row in rows for each in row]
        shape = [len(rows), len(rows[0])] if isinstance(values[0], list) else [len(flat)]
        name = f"{key}.{suffix}.npy"
        self.test.write(os.path.join(self.folder, "dump_tensor_data", name), npy("<f4", shape, floats(*flat)))
        return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": shape, "Max": max(flat), "Min": min(flat),
                "Mean": sum(flat) / len(flat), "Norm": sum(each * each for each in flat) ** 0.5,
                "requires_grad": False, "data_name": name}

    def call(self, key, inputs, output, **parameters):
        entry = {"input_args": [self.tensor(key, each, f"input.{i}") for i, each in enumerate(inputs)], "input_kwargs": {}}
        if parameters:
            entry["parameters"] = {name: self.tensor(key, each, f"parameters.{name}") for name, each in parameters.items()}
        entry["output"] = [self.tensor(key, output, "output.0")]
        self.data[key] = entry

    def close(self):
        head = {"task": "tensor", "level": self.level, "framework": "pytorch", "dump_data_dir": None, "data": self.data}
        self.test.write(os.path.join(self.folder, "dump.json"), json.dumps(head))


class MappingTest(RunTest):
    def pair(self, level="L0"):
        return Dump(self, "target", level), Dump(self, "golden", level)

    def compare(self, code, *words):
        run = self.check(code, "compare", self.path("target"), self.path("golden"), *words, "-o", self.path("out"),
                         "--exact-output")
        result = self.read_json("out", "compare_result.json")
        rows = {(row["op"], row["tensor"]): row for row in result["rows"]}
        return run, result, rows


class Files(MappingTest):
    def test_a_layer_mapping_leads_through_nested_containers(self):
        target, golden = self.pair()
        for layer in range(2):
            x, y = [1.0 + layer, 2.0], [2.0, 3.0 + layer]
            target.call(f"Cell.network.layers.{layer}.attention.dense.Dense.forward.0", [x], y)
            golden.call(f"Module.module.layers.{layer}.self_attn.o_proj.Linear.forward.0", [x], y)
            target.call(f"Cell.network.layers.{layer}.feed_forward.MLP.forward.0", [y], [4.0, 5.0 + layer])
            golden.call(f"Module.module.layers.{layer}.mlp.LlamaMLP.forward.0", [y], [4.0, 5.0])
            target.call(f"Cell.network.layers.{layer}.TransformerBlock.forward.0", [x], [4.0, 5.0 + layer])
            golden.call(f"Module.module.layers.{layer}.DecoderLayer.forward.0", [x], [4.0, 5.0])
        target.close()
        golden.close()
        mapping = self.write("layers.yaml", "TopLayer:\n  network: module\n"
                             "TransformerBlock:\n  attention.dense: self_attn.o_proj\n  feed_forward: mlp\n")
        _, result, rows = self.compare(1, "-lm", mapping)
        self.assertEqual({row["match"] for row in result["rows"]}, {"mapped"})
        dense = rows["Cell.network.layers.1.attention.dense.Dense.forward.0", "output.0"]
        self.assertEqual((dense["golden_op"], dense["verdict"]),
                         ("Module.module.layers.1.self_attn.o_proj.Linear.forward.0", "pass"))
        culprits = [(c["op"], c["kind"]) for c in result["localisation"]["culprits"]]
        self.assertEqual(culprits, [("Cell.network.layers.1.feed_forward.MLP.forward.0", "compute_fault")])

    def test_an_api_mapping_pairs_arguments_of_other_places(self):
        target, golden = self.pair("L1")
        for call in range(2):
            x, y = [1.0, 2.0 + call], [5.0, 6.0]
            target.call(f"Mint.add.{call}.forward", [x, y], [6.0, 8.0 + call])
            golden.call(f"Torch.add.{call}.forward", [y, x], [6.0, 8.0 + call])
        target.close()
        golden.close()
        mapping = self.write("api.yaml", "- ms_api: Mint.add\n  pt_api: Torch.add\n  ms_args: [0, 1]\n  pt_args: [1, 0]\n"
                             "  ms_outputs: [0]\n  pt_outputs: [0]\n")
        _, result, rows = self.compare(0, "-am", mapping)
        self.assertEqual(result["localisation"]["verdict"], "identical")
        self.assertEqual(rows["Mint.add.1.forward", "input.0"]["golden_tensor"], "input.1")
        self.assertEqual((result["summary"]["pass"], result["summary"]["only_target"]), (6, 0))

    def test_a_data_mapping_pairs_rows_by_full_names(self):
        target, golden = self.pair("L1")
        target.call("NPU.npu_add.0.forward", [[1.0, 2.0]], [2.0, 3.0])
        golden.call("Torch.add.5.forward", [[1.0, 2.0]], [2.0, 4.0])
        target.close()
        golden.close()
        mapping = self.write("data.yaml", "NPU.npu_add.0.forward.input.0: Torch.add.5.forward.input.0\n"
                             "NPU.npu_add.0.forward.output.0: Torch.add.5.forward.output.0\n")
        _, result, rows = self.compare(1, "-dm", mapping)
        self.assertEqual(rows["NPU.npu_add.0.forward", "input.0"]["verdict"], "pass")
        self.assertEqual(rows["NPU.npu_add.0.forward", "output.0"]["metrics"]["max_abs_err"], 1.0)
        self.assertEqual(result["localisation"]["culprits"][0]["op"], "NPU.npu_add.0.forward")

    def test_a_rule_that_found_nothing_is_named_with_its_place(self):
        target, golden = self.pair("L1")
        for side in (target, golden):
            side.call("Torch.add.0.forward", [[1.0]], [2.0])
            side.close()
        mapping = self.write("data.yaml", "Torch.gone.0.forward.input.0: Torch.add.0.forward.input.0\n")
        run, _, _ = self.compare(0, "-dm", mapping)
        self.assertIn("data.yaml:1:1", run.out)

    def test_a_mapping_that_cannot_be_read_is_a_mistake_of_the_command(self):
        target, golden = self.pair("L1")
        for side in (target, golden):
            side.call("Torch.add.0.forward", [[1.0]], [2.0])
            side.close()
        os.mkfifo(self.path("pipe"))
        for name, words in (("pipe", "is a FIFO, not a regular file"), ("gone", "No such file or directory")):
            run = self.check(2, "compare", self.path("target"), self.path("golden"), "--mapping", self.path(name))
            self.assertRegex(run.err, f"error: compare: option --mapping: .*{name}: .*{words}")


class MergedProjections(MappingTest):
    X = [[1.0, 2.0], [3.0, 4.0]]
    WEIGHTS = {"q_proj": [[1.0, 0.0], [0.0, 1.0]], "k_proj": [[2.0, 0.0], [0.0, 2.0]], "v_proj": [[0.0, 1.0], [1.0, 0.0]]}

    @staticmethod
    def times(x, weight):
        return [[sum(a * b for a, b in zip(row, column)) for column in weight] for row in x]

    def joined(self):
        weight = [row for name in ("q_proj", "k_proj", "v_proj") for row in self.WEIGHTS[name]]
        return weight, self.times(self.X, weight)

    def separate(self, dump, prefix, wrong=None):
        for name, weight in self.WEIGHTS.items():
            output = self.times(self.X, weight)
            if name == wrong:
                output[1][0] += 0.5
            dump.call(prefix.format(name), [self.X], output, weight=weight)

    def check_merged(self, prefix_of_parts, whole, *words):
        target, golden = self.pair()
        self.separate(target, prefix_of_parts)
        weight, output = self.joined()
        golden.call(whole, [self.X], output, weight=weight)
        target.close()
        golden.close()
        return self.compare(0, *words)

    def test_separate_projections_of_the_target_are_joined(self):
        _, result, rows = self.check_merged("Module.model.layers.0.self_attn.{}.Linear.forward.0",
                                            "Module.model.layers.0.self_attn.qkv_proj.QKVParallelLinear.forward.0")
        self.assertEqual(result["localisation"]["verdict"], "identical")
        self.assertEqual([(row["tensor"], row["verdict"], row["match"]) for row in result["rows"]],
                         [("input.0", "pass", "mapped"), ("parameter.weight", "pass", "mapped"), ("output.0", "pass", "mapped")])
        # 2 rows of 3 projections of 2 each
        self.assertEqual(result["rows"][2]["metrics"]["elements"], 12)

    def test_a_fault_in_one_of_them_is_found(self):
        target, golden = self.pair()
        self.separate(golden, "Module.model.layers.0.self_attn.{}.Linear.forward.0", wrong="k_proj")
        weight, output = self.joined()
        target.call("Module.model.layers.0.self_attn.qkv_proj.QKVParallelLinear.forward.0", [self.X], output, weight=weight)
        target.close()
        golden.close()
        _, result, _ = self.compare(1)
        culprit = result["localisation"]["culprits"][0]
        self.assertEqual((culprit["op"], culprit["tensor"]),
                         ("Module.model.layers.0.self_attn.qkv_proj.QKVParallelLinear.forward.0", "output.0"))
        # Row 1, and of its 6 elements the first of the second projection.
        self.assertEqual(culprit["worst"][0]["index"], [1, 2])
        self.assertEqual(culprit["worst"][0]["golden"] - culprit["worst"][0]["target"], 0.5)

    def test_training_by_fsdp_against_inference(self):
        target, golden = self.pair()
        model = "Module._fsdp_wrapped_module.model."
        target.call(model + "embed_tokens.Embedding.forward.0", [[1.0]], [2.0])
        self.separate(target, "Module._fsdp_wrapped_module.model.layers.0._fsdp_wrapped_module.self_attn.{}.Linear.forward.0")
        target.call(model + "Qwen2Model.backward.0", [[1.0]], [2.0])
        self.separate(target, "Module._fsdp_wrapped_module.model.layers.0._fsdp_wrapped_module.self_attn.{}.Linear.forward.1")
        golden.call("Module.model.embed_tokens.VocabParallelEmbedding.forward.0", [[1.0]], [2.0])
        weight, output = self.joined()
        golden.call("Module.model.layers.0.self_attn.qkv_proj.QKVParallelLinear.forward.0", [self.X], output, weight=weight)
        target.close()
        golden.close()
        _, result, rows = self.compare(0, "--consistent-check", "--backend", "fsdp")
        self.assertEqual(result["localisation"]["verdict"], "identical")
        # Two rows of the embedding, three of the projections; what follows the backward entry is recomputation.
        self.assertEqual((result["summary"]["pairs"], result["summary"]["pass"]), (5, 5))
        self.assertEqual((result["summary"]["only_target"], result["summary"]["only_golden"]), (0, 0))

    def test_training_by_megatron_against_inference(self):
        target, golden = self.pair()
        weight, output = self.joined()
        target.call("Module.module.embedding.word_embeddings.VocabParallelEmbedding.forward.0", [[1.0]], [2.0])
        golden.call("Module.model.embed_tokens.VocabParallelEmbedding.forward.0", [[1.0]], [2.0])
        target.call("Module.module.decoder.layers.0.self_attention.linear_qkv.ColumnParallelLinear.forward.0", [self.X],
                    output, weight=weight)
        golden.call("Module.model.layers.0.self_attn.qkv_proj.QKVParallelLinear.forward.0", [self.X], output, weight=weight)
        target.call("Module.module.decoder.layers.0.mlp.linear_fc2.RowParallelLinear.forward.0", [self.X], self.X)
        golden.call("Module.model.layers.0.mlp.down_proj.RowParallelLinear.forward.0", [self.X], [[1.0, 2.0], [3.0, 5.0]])
        target.close()
        golden.close()
        _, result, rows = self.compare(1, "--consistent-check", "--backend", "megatron")
        self.assertEqual((result["summary"]["pairs"], result["summary"]["pass"], result["summary"]["only_target"]), (7, 6, 0))
        self.assertEqual([c["op"] for c in result["localisation"]["culprits"]],
                         ["Module.module.decoder.layers.0.mlp.linear_fc2.RowParallelLinear.forward.0"])

    def test_a_backend_is_needed_and_belongs_to_the_check(self):
        target, golden = self.pair()
        for side in (target, golden):
            side.call("Torch.add.0.forward", [[1.0]], [2.0])
            side.close()
        paths = (self.path("target"), self.path("golden"))
        self.assertIn("--consistent-check needs --backend", self.check(2, "compare", *paths, "--consistent-check").err)
        self.assertIn("--backend belongs to --consistent-check", self.check(2, "compare", *paths, "--backend", "fsdp").err)


if __name__ == "__main__":
    unittest.main()
