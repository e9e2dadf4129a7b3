// A source: what SGLang's dumper writes, a .pt file a tensor, whose name says step, rank and what it is
// (README.md). The .pt files are read by the reader library of the SDK, which executes no pickle.
#include <ulpscope/plugin.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "formats/framework_dump_data.hpp"
#include "formats/tensor_file.hpp"

namespace {

namespace fs = std::filesystem;

struct Dumped {
  std::string file, op;
  int32_t step = -1, rank = -1;
  int64_t order = 0;
};

std::optional<int64_t> number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What "forward_pass_id=1___rank=0___name=attn_out___dump_index=7___layer_id=3.pt" says; nothing for other
// names. Keys that are not known here tell tensors of one name apart, so that they become part of it:
// "attn_out layer_id=3".
std::optional<Dumped> parse_name(const std::string& file) {
  constexpr std::string_view kEnd = ".pt", kBetween = "___";
  if (!std::string_view(file).ends_with(kEnd)) return std::nullopt;
  Dumped dumped;
  dumped.file = file;
  std::string name, others;
  std::string_view rest = std::string_view(file).substr(0, file.size() - kEnd.size());
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(kBetween));
    rest.remove_prefix(std::min(rest.size(), part.size() + kBetween.size()));
    const size_t equals = part.find('=');
    if (equals == part.npos) return std::nullopt;
    const std::string key(part.substr(0, equals)), value(part.substr(equals + 1));
    const auto count = number(value);
    if (key == "name") {
      name = value;
    } else if ((key == "forward_pass_id" || key == "step") && count) {
      dumped.step = static_cast<int32_t>(*count);
    } else if ((key == "rank" || key == "tp_rank") && count) {
      dumped.rank = static_cast<int32_t>(*count);
    } else if (key == "dump_index" && count) {
      dumped.order = *count;
    } else {
      others.append(" ").append(part);
    }
  }
  if (name.empty()) return std::nullopt;
  dumped.op = name + others;
  return dumped;
}

std::vector<Dumped> dumped_in(const fs::path& folder, std::error_code& error) {
  std::vector<Dumped> found;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (auto dumped = parse_name(entry->path().filename().string())) found.push_back(*std::move(dumped));
  const auto key = [](const Dumped& d) { return std::tie(d.step, d.rank, d.order, d.op, d.file); };
  std::sort(found.begin(), found.end(), [&](const Dumped& a, const Dumped& b) { return key(a) < key(b); });
  return found;
}

class SglangDumper final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "sglang_dumper";
  static constexpr const char* kSummary = "folders of SGLang's dumper: KEY=VALUE___KEY=VALUE.pt";

  static ulpscope::Probe probe(std::string_view path) {
    std::error_code error;
    const size_t count = fs::is_directory(path, error) ? dumped_in(path, error).size() : 0;
    return {count > 0 ? 90 : 0, std::to_string(count) + " files named KEY=VALUE___KEY=VALUE.pt"};
  }

  SglangDumper(ulpscope::Host host, std::string_view path, std::string_view)
      : host_(host), root_(path), tensors_(host, root_, {false, false, false}) {
    std::error_code error;
    if (!fs::is_directory(root_, error)) throw ulpscope::Failure(ULPSCOPE_E_IO, root_ + ": not a folder");
  }

  void scan(ulpscope::RecordSink& sink) override {
    std::error_code error;
    const std::vector<Dumped> found = dumped_in(root_, error);
    if (error) throw ulpscope::Failure(ULPSCOPE_E_IO, root_ + ": " + error.message());
    if (found.empty())
      throw ulpscope::Failure(ULPSCOPE_E_FORMAT, root_ + ": no file named KEY=VALUE___KEY=VALUE.pt");
    std::map<std::tuple<int32_t, int32_t, std::string>, uint32_t> calls;
    for (const Dumped& dumped : found) {
      host_.check_cancelled();
      ulpscope::OpRecord op;
      op.name = dumped.op;
      op.type = dumped.op.substr(0, dumped.op.find(' '));
      op.step = dumped.step;
      op.rank = dumped.rank;
      op.call = calls[{dumped.step, dumped.rank, dumped.op}]++;
      add_tensor(sink, dumped, sink.add(op));
    }
  }

  ulpscope::DataRef locate(uint64_t token) override { return tensors_.locate(token); }
  std::unique_ptr<ulpscope::ByteStream> stream(uint64_t token) override { return tensors_.stream(token); }

 private:
  void add_tensor(ulpscope::RecordSink& sink, const Dumped& dumped, uint32_t op) {
    ulpscope::TensorRecord tensor;
    tensor.op = op;
    tensor.role = ulpscope::Role::output;
    tensor.path = "0";
    const auto file = ulpscope::File::open_under(root_, dumped.file);
    const auto places = file.ok() ? ulpscope::read_places(*file)
                                  : ulpscope::Result<std::vector<ulpscope::TensorPlace>>(file.error());
    if (places.ok() && places->size() == 1) {
      tensor.dtype = places->front().dtype;
      tensor.shape = places->front().shape;
      tensor.data = ulpscope::DataRef::later(tensors_.add_file(dumped.file, tensor.dtype, tensor.shape));
    } else {
      // The record stays, so that the tensor is a row of the report and not forgotten.
      tensor.absent = ULPSCOPE_ABSENT_BAD;
      sink.diagnose(ULPSCOPE_E_IO, dumped.file, places.ok() ? "expected one tensor" : places.error().message);
    }
    sink.add(tensor);
  }

  ulpscope::Host host_;
  std::string root_;
  ulpscope::LateTensors tensors_;
};

}  // namespace

ULPSCOPE_PLUGIN("sglang_dumper", "0.1.0", "example", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(SglangDumper));
