#include "config_check/weights.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "config_check/config_value.hpp"
#include "formats/safetensors.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

std::string shown_shape(const Shape& shape) {
  std::string text;
  append_json_shape(text, shape);
  return text;
}

Status add_safetensors(const std::string& folder, const std::string& name, Weights& weights) {
  ULPSCOPE_ASSIGN(File opened, File::open(folder + "/" + name));
  const auto file = std::make_shared<const File>(std::move(opened));
  FileEnds ends(*file);
  ULPSCOPE_TRY(ends.load());
  ULPSCOPE_ASSIGN(const std::vector<TensorPlace> places, read_safetensors(ends));
  for (const TensorPlace& place : places) {
    WeightTensor tensor;
    tensor.file = name;
    tensor.source = file;
    tensor.offset = place.offset;
    tensor.size = place.size;
    tensor.type = place.dtype;
    // A dtype without counterpart here carries a refusal; its bytes can be hashed all the same.
    tensor.dtype = place.dtype == DType::none ? place.refusal : std::string(safetensors_dtype(place.dtype));
    tensor.shape = place.shape;
    const auto [at, is_new] = weights.tensors.emplace(place.member, std::move(tensor));
    if (!is_new)
      return Error{Code::format, file->path() + ": tensor " + printable(place.member) + " is in " +
                                     printable(at->second.file) + " too, expected it once"};
  }
  return {};
}

Status add_hash_file(const std::string& path, Weights& weights) {
  ULPSCOPE_ASSIGN(const ConfigValue json, read_config_json(path));
  const ConfigValue* tensors = json.find("tensors");
  if (tensors == nullptr || tensors->kind != ConfigKind::object)
    return Error{Code::format, path + ": expected \"tensors\": {name: {\"dtype\", \"shape\", \"sha256\"}}"};
  for (const auto& [name, entry] : tensors->members) {
    const ConfigValue *dtype = entry.find("dtype"), *shape = entry.find("shape"), *sum = entry.find("sha256");
    if (dtype == nullptr || shape == nullptr || sum == nullptr || sum->text.size() != 64)
      return Error{Code::format, path + ": tensor " + printable(name) + ": expected dtype, shape and sha256"};
    WeightTensor tensor;
    tensor.file = std::string(kWeightsFile);
    tensor.dtype = dtype->text;
    tensor.sha256 = sum->text;
    for (const ConfigValue& size : shape->items) tensor.shape.push_back(parse_int(size.text).value_or(-1));
    weights.tensors.emplace(name, std::move(tensor));
  }
  return {};
}

// Calls take for the pieces of a range.
template <class Take>
Status for_each_piece(const File& file, uint64_t offset, uint64_t size, const Cancel& cancel, Take take) {
  std::vector<std::byte> buffer(static_cast<size_t>(std::min<uint64_t>(size, kChunkBytes)));
  while (size > 0) {
    if (cancel.requested()) return Error{Code::cancelled, "interrupted"};
    const std::span<std::byte> piece =
        std::span(buffer).first(static_cast<size_t>(std::min<uint64_t>(size, kChunkBytes)));
    ULPSCOPE_TRY(file.read_exact(offset, piece));
    take(std::span<const std::byte>(piece));
    offset += piece.size();
    size -= piece.size();
  }
  return {};
}

}  // namespace

Result<Weights> read_weights(const std::string& folder) {
  Weights weights;
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    names.push_back(at->path().filename().string());
  if (failed) return Error{Code::io, folder + ": " + failed.message()};
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (name.ends_with(".safetensors")) ULPSCOPE_TRY(add_safetensors(folder, name, weights));
    if (name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth"))
      weights.other_files[name] = folder + "/" + name;
  }
  const std::string hashes = folder + "/" + std::string(kWeightsFile);
  if (weights.tensors.empty() && std::filesystem::exists(hashes, failed))
    ULPSCOPE_TRY(add_hash_file(hashes, weights));
  return weights;
}

Status hash_weights(std::vector<WeightTensor*> tensors, ThreadPool& pool, const Cancel& cancel,
                    const std::function<void(uint64_t)>& on_bytes) {
  std::erase_if(tensors,
                [](const WeightTensor* tensor) { return !tensor->sha256.empty() || !tensor->source; });
  // The largest first, so that no thread is left alone with one at the end.
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const WeightTensor* a, const WeightTensor* b) { return a->size > b->size; });
  std::mutex status_mutex;  // guards status
  Status status;
  pool.parallel_for(static_cast<int64_t>(tensors.size()), [&](int64_t i, int) {
    WeightTensor& tensor = *tensors[static_cast<size_t>(i)];
    Sha256 sum;
    const Status read = for_each_piece(*tensor.source, tensor.offset, tensor.size, cancel,
                                       [&](std::span<const std::byte> piece) {
                                         sum.add(piece);
                                         if (on_bytes) on_bytes(piece.size());
                                       });
    if (read.ok()) {
      tensor.sha256 = sum.finish();
    } else {
      const std::lock_guard lock(status_mutex);
      if (status.ok()) status = read.error();
    }
  });
  return status;
}

std::string weights_json(const Weights& weights) {
  std::string out = "{\"schema\": \"ulpscope.weights/1\", \"tensors\": {";
  bool first = true;
  for (const auto& [name, tensor] : weights.tensors) {
    out += first ? "\n  " : ",\n  ";
    first = false;
    append_json_string(out, name);
    out += ": {\"dtype\": ";
    append_json_string(out, tensor.dtype);
    out += ", \"shape\": " + shown_shape(tensor.shape) + ", \"sha256\": ";
    append_json_string(out, tensor.sha256);
    out += "}";
  }
  return out + "\n}}\n";
}

Result<std::string> file_sha256(const std::string& path, const Cancel& cancel) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  Sha256 sum;
  ULPSCOPE_TRY(for_each_piece(file, 0, file.size(), cancel,
                              [&](std::span<const std::byte> piece) { sum.add(piece); }));
  return sum.finish();
}

}  // namespace ulpscope
