// The globals of torch that a tensor's pickle applies, and the persistent ids that name its storages.
#include <algorithm>
#include <array>
#include <limits>

#include "base/text.hpp"
#include "formats/pickle.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {
namespace {

struct StorageClass {
  std::string_view name;
  DType dtype;
};
// Quantised storages hold their integers.
constexpr StorageClass kStorageClasses[] = {
    {"DoubleStorage", DType::f64},       {"FloatStorage", DType::f32},
    {"HalfStorage", DType::f16},         {"BFloat16Storage", DType::bf16},
    {"LongStorage", DType::i64},         {"IntStorage", DType::i32},
    {"ShortStorage", DType::i16},        {"CharStorage", DType::i8},
    {"ByteStorage", DType::u8},          {"BoolStorage", DType::b8},
    {"ComplexFloatStorage", DType::c64}, {"ComplexDoubleStorage", DType::c128},
    {"QInt8Storage", DType::i8},         {"QUInt8Storage", DType::u8},
    {"QInt32Storage", DType::i32}};

Error format_error(std::string_view what) { return {Code::format, std::string(what)}; }

Result<DType> storage_dtype(const PickleValue& type) {
  if (type.kind != PickleKind::global) return format_error("the class of a storage is " + describe(type));
  if (type.text == "UntypedStorage" && (type.module == "torch.storage" || type.module == "torch"))
    return DType::none;
  if (type.module == "torch" || type.module == "torch.cuda" || type.module == "torch.npu")
    for (const StorageClass& known : kStorageClasses)
      if (known.name == type.text) return known.dtype;
  return Error{Code::unsupported, describe(type) + " is not a storage of supported elements"};
}

Result<int64_t> count_of(const PickleValue& value, std::string_view what) {
  if (value.kind != PickleKind::integer) return format_error(std::string(what) + " is " + describe(value));
  if (value.integer < 0) return format_error(std::string(what) + " is " + std::to_string(value.integer));
  return value.integer;
}

Result<std::vector<int64_t>> counts_of(const PickleResult& result, const PickleValue& value,
                                       std::string_view what) {
  if (value.kind != PickleKind::tuple) return format_error(std::string(what) + " is " + describe(value));
  if (value.integer > static_cast<int64_t>(kMaxRank))
    return Error{Code::unsupported,
                 std::to_string(value.integer) + " dimensions, expected at most " + std::to_string(kMaxRank)};
  std::vector<int64_t> counts;
  counts.reserve(static_cast<size_t>(value.integer));
  for (const PickleValue& item : result.tuple(value)) {
    ULPSCOPE_ASSIGN(const int64_t count, count_of(item, what));
    counts.push_back(count);
  }
  return counts;
}

using Arguments = std::span<const PickleValue>;

// torch keeps conjugation and negation as flags of a view; the bytes are not what the tensor shows.
Status check_metadata(const PickleResult& result, const PickleValue& metadata) {
  if (metadata.kind != PickleKind::dict) return {};
  const auto& entries = result.dicts[metadata.index];
  for (size_t i = 0; i + 1 < entries.size(); i += 2)
    if (entries[i].kind == PickleKind::text && (entries[i].text == "conj" || entries[i].text == "neg") &&
        entries[i + 1].integer != 0)
      return Error{Code::unsupported, "a tensor with the lazy '" + std::string(entries[i].text) + "' flag"};
  return {};
}

// (storage, offset, size, stride, …) → tensor. The dtype is that of the storage unless given.
Result<PickleTensor> rebuild(const PickleResult& result, Arguments arguments, DType dtype) {
  const PickleValue& storage = arguments[0];
  if (storage.kind != PickleKind::storage)
    return format_error("a tensor over " + describe(storage) + ", expected a storage");
  PickleTensor tensor;
  tensor.storage = storage.index;
  tensor.dtype = dtype != DType::none ? dtype : result.storages[storage.index].dtype;
  if (tensor.dtype == DType::none) return format_error("an untyped storage without a dtype");
  ULPSCOPE_ASSIGN(tensor.first_element, count_of(arguments[1], "a storage offset"));
  ULPSCOPE_ASSIGN(tensor.shape, counts_of(result, arguments[2], "a size"));
  ULPSCOPE_ASSIGN(tensor.strides, counts_of(result, arguments[3], "a stride"));
  if (tensor.shape.size() != tensor.strides.size())
    return format_error(std::to_string(tensor.shape.size()) + " sizes and " +
                        std::to_string(tensor.strides.size()) + " strides");
  return tensor;
}

PickleValue add(PickleResult& result, PickleTensor tensor) {
  result.tensors.push_back(std::move(tensor));
  return {.kind = PickleKind::tensor, .index = static_cast<uint32_t>(result.tensors.size() - 1)};
}

Result<DType> element_type(const PickleValue& value) {
  if (value.kind != PickleKind::global || value.module != "torch")
    return format_error("a dtype is " + describe(value));
  const DType dtype = dtype_from_name(value.text);
  if (dtype == DType::none || dtype == DType::hif8 || dtype == DType::i4x2)
    return Error{Code::unsupported, "dtype torch." + printable(value.text)};
  return dtype;
}

// (torch per_tensor_affine, scale, zero point) as text; of other schemes the name alone.
Result<std::string> quantizer_text(const PickleResult& result, const PickleValue& value) {
  if (value.kind != PickleKind::tuple || value.integer < 1)
    return format_error("a quantizer is " + describe(value));
  const Arguments parts = result.tuple(value);
  if (parts[0].kind != PickleKind::global) return format_error("a quantizer scheme is " + describe(parts[0]));
  std::string text = printable(parts[0].text);
  if (parts.size() == 3 && parts[1].kind == PickleKind::real && parts[2].kind == PickleKind::integer) {
    text += " scale ";
    append_number(text, parts[1].real);
    text += " zero_point " + std::to_string(parts[2].integer);
  }
  return text;
}

// torch._utils _rebuild_tensor, _v2, _v3, _rebuild_qtensor and the form of torch_npu, told apart by their
// arguments.
enum class Form { plain, typed, quantised, npu };

Result<PickleValue> rebuild_tensor(PickleResult& result, Arguments arguments, Form form) {
  const size_t needed = form == Form::plain ? 4 : form == Form::quantised ? 5 : 7;
  if (arguments.size() < needed)
    return format_error("a tensor of " + std::to_string(arguments.size()) + " arguments, expected " +
                        std::to_string(needed));
  DType dtype = DType::none;
  if (form == Form::typed) {
    ULPSCOPE_ASSIGN(dtype, element_type(arguments[6]));
  }
  ULPSCOPE_ASSIGN(PickleTensor tensor, rebuild(result, arguments, dtype));
  if (form == Form::quantised) {
    ULPSCOPE_ASSIGN(tensor.quantizer, quantizer_text(result, arguments[4]));
  }
  if (form == Form::npu && arguments[6].kind == PickleKind::integer) tensor.npu_format = arguments[6].integer;
  const size_t metadata = form == Form::plain ? 6 : 7;
  if (form != Form::quantised && arguments.size() > metadata)
    ULPSCOPE_TRY(check_metadata(result, arguments[metadata]));
  return add(result, std::move(tensor));
}

// A function that answers with its first argument.
Result<PickleValue> first_of(Arguments arguments, PickleKind kind) {
  if (arguments.empty() || arguments[0].kind != kind)
    return format_error(arguments.empty() ? "no argument" : "an argument is " + describe(arguments[0]));
  return arguments[0];
}

constexpr std::string_view kUtils = "torch._utils";

}  // namespace

// ("storage", class, key, location, count[, view]); a legacy view is None or (key, first element, count).
Result<PickleValue> resolve_storage(PickleResult& result, const PickleValue& id) {
  if (id.kind != PickleKind::tuple || id.integer < 5)
    return format_error("a persistent id is " + describe(id));
  const Arguments parts = result.tuple(id);
  if (parts[0].kind != PickleKind::text || parts[0].text != "storage" || parts[2].kind != PickleKind::text)
    return format_error("a persistent id that names no storage");
  PickleStorage storage;
  storage.key = parts[2].text;
  ULPSCOPE_ASSIGN(storage.dtype, storage_dtype(parts[1]));
  ULPSCOPE_ASSIGN(storage.count, count_of(parts[4], "the count of a storage"));
  if (parts.size() > 5 && parts[5].kind == PickleKind::tuple) {
    const Arguments view = result.tuple(parts[5]);
    if (view.size() != 3)
      return format_error("a storage view of " + std::to_string(view.size()) + " members, expected 3");
    ULPSCOPE_ASSIGN(storage.view_first, count_of(view[1], "the offset of a storage view"));
    ULPSCOPE_ASSIGN(storage.view_count, count_of(view[2], "the size of a storage view"));
  }
  result.storages.push_back(storage);
  return PickleValue{.kind = PickleKind::storage, .index = static_cast<uint32_t>(result.storages.size() - 1)};
}

Result<PickleValue> apply_global(PickleResult& result, PickleValue function, PickleValue arguments_value) {
  // _rebuild_from_type_v2 wraps another call; torch nests one.
  constexpr int kMaxWrappers = 4;
  for (int depth = 0; depth < kMaxWrappers; ++depth) {
    if (function.kind != PickleKind::global) return format_error("a call of " + describe(function));
    if (arguments_value.kind != PickleKind::tuple)
      return format_error("a call with " + describe(arguments_value) + ", expected a tuple");
    const Arguments arguments = result.tuple(arguments_value);
    if (function.module == kUtils &&
        (function.text == "_rebuild_tensor_v2" || function.text == "_rebuild_tensor"))
      return rebuild_tensor(result, arguments, Form::plain);
    if (function.is_global(kUtils, "_rebuild_tensor_v3"))
      return rebuild_tensor(result, arguments, Form::typed);
    if (function.is_global(kUtils, "_rebuild_qtensor"))
      return rebuild_tensor(result, arguments, Form::quantised);
    if (function.is_global("torch_npu.utils.storage", "_rebuild_npu_tensor"))
      return rebuild_tensor(result, arguments, Form::npu);
    if (function.is_global(kUtils, "_rebuild_parameter") ||
        function.is_global(kUtils, "_rebuild_parameter_with_state"))
      return first_of(arguments, PickleKind::tensor);
    if (function.is_global("torch", "Size")) return first_of(arguments, PickleKind::tuple);
    if (function.is_global("torch_npu.npu._format", "Format"))
      return first_of(arguments, PickleKind::integer);
    if (function.is_global("collections", "OrderedDict")) {
      result.dicts.emplace_back();
      return PickleValue{.kind = PickleKind::dict, .index = static_cast<uint32_t>(result.dicts.size() - 1)};
    }
    if (!function.is_global("torch._tensor", "_rebuild_from_type_v2"))
      return Error{Code::unsupported, describe(function) + " is not part of a tensor"};
    if (arguments.size() < 4)
      return format_error("_rebuild_from_type_v2 with " + std::to_string(arguments.size()) +
                          " arguments, expected 4");
    function = arguments[0];
    arguments_value = arguments[2];
  }
  return Error{Code::unsupported,
               "_rebuild_from_type_v2 nested more than " + std::to_string(kMaxWrappers) + " deep"};
}

}  // namespace ulpscope
