"""overflow: the first NaN or infinity, and what must not be taken for one."""

import os

import runs
from runs import call, dump_json, floats, inf_tensor, mask_tensor, nan_tensor, npy, number, tensor

CLEAN = tensor()


class OverflowTest(runs.RunTest):
    def overflow(self, code, path, *words):
        run = self.check(code, "overflow", path, "-o", self.path("out"), "--exact-output", *words)
        self.result = self.read_json("out/overflow_result.json")
        self.assertEqual(self.result["schema"], "ulpscope.overflow/1")
        return run

    def found(self):
        return [(f["rank"], f["op"], f["tensor"], f["kind"], f["status"]) for f in self.result["findings"]]

    def dump(self, *ranks):
        for rank, calls in enumerate(ranks):
            self.write("d/step0/rank%d/dump.json" % rank, dump_json(calls))
        return self.path("d")


class PeerCases(OverflowTest):
    """The four two-rank dumps on which the older tool was run; what it overlooks is named."""

    def case(self, name):
        return os.path.join(runs.DATA, "overflow", name)

    def test_nothing_is_said_of_the_inputs_of_files(self):
        self.write("x.npy", npy("<f4", (2,), floats(1, float("nan"))))
        run = self.overflow(1, self.path("x.npy"))
        self.assertEqual(self.result["findings"][0]["why"], "")
        self.assertIn("NaN  x output.0\n\nfindings 1", run.out)

    def test_before_communication_it_names_the_op_of_the_rank_that_fed_the_collective(self):
        run = self.overflow(1, self.case("comm"))
        self.assertEqual(self.found(), [(1, "Torch.matmul.0.forward", "output.0", "nan", "certain")])
        self.assertEqual(self.result["findings"][0]["where"], "File model.py, line 10, in forward, y = matmul(x)")
        self.assertIn("NaN  Torch.matmul.0.forward output.0   step 0  rank 1\n    inputs are finite\n", run.out)

    def test_nested_outputs_count(self):
        # The older tool reports Torch.log.0: it looks at the top level of the output list only.
        self.overflow(1, self.case("pre"))
        self.assertEqual(self.found(), [(1, "Torch.nested.0.forward", "output.0.1.0", "nan", "certain"),
                                        (1, "Torch.log.0.forward", "output.0", "nan", "certain")])

    def test_a_collective_that_overflows_itself_is_named_once(self):
        # An infinite mean and norm beside finite extremes are possible findings of their own.
        self.overflow(1, self.case("commprod"))
        self.assertEqual(self.found(), [(0, "Torch.mean_inf_only.0.forward", "output.0", "inf", "possible"),
                                        (1, "Torch.mean_inf_only.0.forward", "output.0", "inf", "possible"),
                                        (0, "Distributed.all_reduce.0.forward", "output.0", "inf", "certain")])
        self.assertIn("those of the other ranks too", self.result["findings"][2]["why"])

    def test_after_communication(self):
        self.overflow(1, self.case("post"))
        self.assertEqual(self.found(), [(1, "Torch.b.0.forward", "output.0", "inf", "certain")])
        self.assertEqual(self.result["summary"]["propagated"], 2)

    def test_a_step_folder_and_the_options_of_the_peer(self):
        run = self.check(1, "overflow_check", "-i", os.path.join(self.case("post"), "step0"), "-o", self.path("out"))
        self.assertIn("Torch.b.0.forward output.0", run.out)


class HealthyDumps(OverflowTest):
    def test_no_finding_is_exit_0(self):
        run = self.overflow(0, self.dump({"Torch.relu.0.forward": call([CLEAN], [CLEAN])}))
        self.assertEqual(self.found(), [])
        self.assertIn("no NaN and no infinity", run.out)

    def test_a_mask_written_on_purpose_is_no_overflow(self):
        calls = {"Tensor.masked_fill.0.forward": call([CLEAN, tensor(dtype="torch.bool"), number(float("-inf"))],
                                                      [mask_tensor()]),
                 "Functional.softmax.0.forward": call([mask_tensor()], [CLEAN])}
        self.overflow(0, self.dump(calls))
        self.assertEqual(self.found(), [])

    def test_a_mask_from_outside_is_only_possible(self):
        self.overflow(0, self.dump({"Tensor.__add__.0.forward": call([CLEAN, mask_tensor()], [mask_tensor()])}))
        self.assertEqual(self.found(), [(0, "Tensor.__add__.0.forward", "input.1", "inf", "possible")])

    def test_strict_counts_possible_findings(self):
        path = self.dump({"Tensor.__add__.0.forward": call([CLEAN, mask_tensor()], [mask_tensor()])})
        self.overflow(1, path, "--strict")

    def test_never_written_memory_and_its_first_use(self):
        calls = {"Torch.empty.0.forward": call([number(2)], [nan_tensor((4, 4))]),
                 "Tensor.zero_.0.forward": call([nan_tensor((4, 4))], [tensor((4, 4))])}
        self.overflow(0, self.dump(calls))
        self.assertEqual(self.found(), [])
        self.assertEqual(self.result["summary"]["ignored"], 2)

    def test_receive_buffers(self):
        calls = {"Distributed.all_gather_into_tensor.0.forward": call([nan_tensor((4,)), tensor((2,))],
                                                                      [tensor((4,)), tensor((2,))]),
                 "Distributed.broadcast.0.forward": call([nan_tensor((3,))], [tensor((3,))], src=number(1))}
        self.overflow(0, self.dump(calls))
        self.assertEqual(self.found(), [])

    def test_a_module_is_not_named_for_what_happened_inside(self):
        calls = {"Torch.log.0.forward": call([CLEAN], [nan_tensor()]),
                 "Module.mlp.MLP.forward.0": dict(call([CLEAN], [nan_tensor()]), parameters={})}
        path = self.dump(calls)
        self.write("d/step0/rank0/construct.json",
                   '{"Module.mlp.MLP.forward.0": null, "Torch.log.0.forward": "Module.mlp.MLP.forward.0"}')
        self.overflow(1, path)
        self.assertEqual(self.found(), [(0, "Torch.log.0.forward", "output.0", "nan", "certain")])
        self.assertEqual(self.result["findings"][0]["modules"], ["Module.mlp.MLP.forward.0"])


class Faults(OverflowTest):
    def test_a_row_that_is_all_mask_makes_nan_in_softmax(self):
        calls = {"Tensor.masked_fill.0.forward": call([CLEAN, number(float("-inf"))], [mask_tensor()]),
                 "Functional.softmax.0.forward": call([mask_tensor()], [nan_tensor()])}
        self.overflow(1, self.dump(calls))
        self.assertEqual(self.found(), [(0, "Functional.softmax.0.forward", "output.0", "nan", "certain")])
        self.assertIn("as masks do", self.result["findings"][0]["why"])

    def test_nan_that_follows_from_an_infinity_is_no_second_finding(self):
        calls = {"Torch.exp.0.forward": call([CLEAN], [inf_tensor()]),
                 "Tensor.__sub__.0.forward": call([inf_tensor(), inf_tensor()], [nan_tensor()])}
        self.overflow(1, self.dump(calls))
        self.assertEqual(self.found(), [(0, "Torch.exp.0.forward", "output.0", "inf", "certain")])

    def test_a_bad_weight_is_named_as_what_came_in(self):
        calls = {"Functional.linear.0.forward": call([CLEAN, nan_tensor((3, 3))], [nan_tensor()])}
        self.overflow(1, self.dump(calls))
        self.assertEqual(self.found(), [(0, "Functional.linear.0.forward", "input.1", "nan", "certain")])

    def test_a_keyword_argument_counts_as_an_input(self):
        calls = {"Torch.add.0.forward": call([CLEAN], [nan_tensor()], other=nan_tensor())}
        self.overflow(1, self.dump(calls))
        self.assertEqual(self.found(), [(0, "Torch.add.0.forward", "input.other", "nan", "certain")])

    def test_the_sender_is_named_for_what_the_receiver_got(self):
        group = {"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "1"}
        sender = {"Torch.log.0.forward": call([CLEAN], [nan_tensor()]),
                  "Distributed.send.0.forward": call([nan_tensor()], [nan_tensor()], dst=number(1), group=group)}
        receiver = {"Distributed.recv.0.forward": call([CLEAN], [nan_tensor()], src=number(0), group=group)}
        self.overflow(1, self.dump(sender, receiver))
        self.assertEqual(self.found(), [(0, "Torch.log.0.forward", "output.0", "nan", "certain")])

    def test_a_rank_of_the_group_that_the_dump_lacks_is_told(self):
        group = {"type": "torch.ProcessGroup", "group_ranks": [0, 7], "group_id": "1"}
        calls = {"Distributed.all_reduce.0.forward": call([CLEAN], [nan_tensor()], group=group)}
        self.overflow(1, self.dump(calls))
        self.assertIn("the dump lacks rank 7 of its group", self.result["findings"][0]["why"])

    def test_saturated_float16_is_possible(self):
        high = tensor(dtype="torch.float16", high=65504.0)
        self.overflow(0, self.dump({"Torch.matmul.0.forward": call([CLEAN], [high])}))
        self.assertEqual(self.found(), [(0, "Torch.matmul.0.forward", "output.0", "limit", "possible")])

    def test_kinds_choose_what_to_look_for(self):
        calls = {"Torch.exp.0.forward": call([CLEAN], [inf_tensor()])}
        self.overflow(0, self.dump(calls), "--kinds", "nan,limit")
        self.assertEqual(self.found(), [])
        self.assertIn("option --kinds: 'x', expected some of", self.check(2, "overflow", "d", "--kinds", "x").err)

    def test_data_is_read_where_statistics_are_missing(self):
        leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3], "requires_grad": False}
        calls = {"Torch.a.0.forward": call([dict(leaf, data_name="good.npy")], [dict(leaf, data_name="bad.npy")])}
        self.write("d/step0/rank0/dump.json", dump_json(calls, task="tensor"))
        self.write("d/step0/rank0/dump_tensor_data/good.npy", npy("<f4", (3,), floats(1, 2, 3)))
        self.write("d/step0/rank0/dump_tensor_data/bad.npy", npy("<f4", (3,), floats(1, float("nan"), 3)))
        self.overflow(1, self.path("d"))
        self.assertEqual(self.found(), [(0, "Torch.a.0.forward", "output.0", "nan", "certain")])
        self.assertEqual(self.result["summary"]["by_data"], 2)

    def test_a_tensor_file_is_looked_at(self):
        self.write("x/a.npy", npy("<f4", (2,), floats(1, float("inf"))))
        self.overflow(1, self.path("x"))
        self.assertEqual(self.result["findings"][0]["kind"], "inf")
        self.assertIsNone(self.result["findings"][0]["step"])

    def test_unreadable_data_is_exit_3(self):
        leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3], "requires_grad": False}
        calls = {"Torch.a.0.forward": call([CLEAN], [dict(leaf, data_name="gone.npy")])}
        self.write("d/step0/rank0/dump.json", dump_json(calls, task="tensor"))
        run = self.overflow(3, self.path("d"))
        self.assertIn("1 tensor could not be read", run.out)

    def test_a_dump_that_says_nothing_is_exit_3(self):
        leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3], "md5": "0011aabb"}
        self.write("d/step0/rank0/dump.json", dump_json({"Torch.a.0.forward": call([leaf], [leaf])}))
        self.assertIn("no floating tensor has statistics or data to look at", self.check(3, "overflow", self.path("d")).err)

    def test_integers_beside_floats_of_which_nothing_is_known_are_no_all_clear(self):
        leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3], "requires_grad": False}
        calls = {"Torch.a.0.forward": call([tensor(dtype="torch.int64"), tensor(dtype="torch.bool")], [leaf])}
        run = self.check(3, "overflow", self.dump(calls), "-o", self.path("out"))
        self.assertIn("no floating tensor has statistics or data to look at", run.err)
        self.assertEqual(run.out, "")

    def test_integers_alone_hold_no_nan(self):
        calls = {"Torch.a.0.forward": call([tensor(dtype="torch.int64")], [tensor(dtype="torch.bool")])}
        self.overflow(0, self.dump(calls))
        self.assertEqual((self.result["summary"]["exact"], self.result["summary"]["by_statistics"]), (2, 0))

    def test_masks_without_a_finding_have_no_culprit_to_stem_from(self):
        calls = {"Tensor.masked_fill.0.forward": call([CLEAN, number(float("-inf"))], [mask_tensor()])}
        run = self.overflow(0, self.dump(calls))
        self.assertIn("1 tensor holds NaN or infinity on purpose, as masks do\n", run.out)
        self.assertNotIn("because of", run.out)

    def test_the_call_site_is_short_and_passes_over_wrappers(self):
        path = self.dump({"Torch.log.0.forward": call([CLEAN], [nan_tensor()])})
        frames = ["File /x/site-packages/torch/nn/modules/module.py, line 9, in _call_impl, \n f()",
                  "File /home/me/model.py, line 114, in forward, \n y = x.log()"]
        self.write("d/step0/rank0/stack.json", '{"0": [["Torch.log.0.forward"], %s]}' % __import__("json").dumps(frames))
        self.assertIn("    called from model.py:114 in forward\n", self.overflow(1, path).out)

    def test_the_dump_is_named_once(self):
        self.assertIn("the dump is named twice", self.check(2, "overflow", "a", "-i", "b").err)
        self.assertIn("argument DUMP is missing", self.check(2, "overflow").err)

    def test_later_steps_follow_from_earlier_ones(self):
        calls = {"Torch.log.0.forward": call([CLEAN], [nan_tensor()])}
        self.write("d/step0/rank0/dump.json", dump_json(calls))
        self.write("d/step1/rank0/dump.json", dump_json({"Torch.add.0.forward": call([nan_tensor()], [nan_tensor()])}))
        self.overflow(1, self.path("d"))
        self.assertEqual([f["step"] for f in self.result["findings"]], [0])


if __name__ == "__main__":
    runs.main()
