// Source tensor_files: one .npy, .pt or .safetensors file, or a folder tree of them, or one .bin file of an
// ATB dump. Each tensor is an op of its own: the quickest way to compare two arrays, and the form of a golden
// made on a CPU or GPU by any script.
#include <ulpscope/plugin.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "formats/acl_names.hpp"
#include "formats/atb_codes.hpp"
#include "formats/atb_container.hpp"
#include "formats/framework_dump_data.hpp"
#include "formats/framework_dump_layout.hpp"
#include "formats/tensor_file.hpp"

namespace {

namespace fs = std::filesystem;
using ulpscope::Failure;

constexpr int64_t kMaxProbedFiles = 2000;  // a probe must be quick; as many equal files tell enough

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The path without its extension; a name that begins with its only dot has none.
std::string_view stem_of(std::string_view path) {
  const size_t name_size = file_name(path).size(), dot = path.rfind('.');
  const bool has_extension = dot != std::string_view::npos && dot > path.size() - name_size;
  return has_extension ? path.substr(0, dot) : path;
}

void sort_by_stem(std::vector<std::string>& paths) {
  std::vector<std::pair<std::string_view, std::string_view>> keys;  // stem and path
  keys.reserve(paths.size());
  for (const std::string& path : paths) keys.emplace_back(stem_of(path), path);
  std::sort(keys.begin(), keys.end());
  std::vector<std::string> sorted;
  sorted.reserve(keys.size());
  for (const auto& [stem, path] : keys) sorted.emplace_back(path);
  paths = std::move(sorted);
}

bool is_tensor_name(std::string_view path) {
  const std::string_view extension = path.substr(stem_of(path).size());
  return extension == ".npy" || extension == ".pt" || extension == ".safetensors";
}

// The names of files whose own were too long for the file system.
constexpr std::string_view kMapping = "mapping.csv";

// Beside tensors without meaning: what a person or a file manager leaves in a folder, and the lists that
// programs write beside their tensors (manifest.json, convert.json). Not the files of a dump.
bool is_ignored(std::string_view path) {
  constexpr std::string_view kDumpFiles[] = {"dump.json", "debug.json", "construct.json", "stack.json"};
  const std::string_view name = file_name(path);
  const bool of_dump = std::find(std::begin(kDumpFiles), std::end(kDumpFiles), name) != std::end(kDumpFiles);
  return name.starts_with('.') || name.starts_with("README") || name == kMapping ||
         (name.ends_with(".json") && !of_dump);
}

// Told of what for_each_file passes over: the code of the diagnostic, the place below the root, and why.
using Passed = std::function<void(ulpscope_status, const std::string&, const std::string&)>;

// Calls body(relative path) for each file below root that is no ignored one, until it answers false. Folders
// that are links are not entered. Throws Failure io when root cannot be listed.
template <class F>
void for_each_file(const std::string& root, F body, const Passed& passed = {}) {
  using ulpscope::EntryKind;
  using ulpscope::Walk;
  const auto visit = [&](const std::string& path, EntryKind kind) {
    if (kind == EntryKind::folder) return file_name(path).starts_with('.') ? Walk::pass : Walk::enter;
    std::error_code ignored;
    if (kind == EntryKind::link && fs::is_directory(root + "/" + path, ignored)) {
      if (passed) passed(ULPSCOPE_E_FORMAT, path, "a symbolic link to a folder is not followed");
      return Walk::pass;
    }
    return is_ignored(path) || body(path) ? Walk::pass : Walk::end;
  };
  const auto unread = [&](const std::string& path, const std::string& why) {
    if (passed) passed(ULPSCOPE_E_IO, path, why);
  };
  if (const ulpscope::Status walked = ulpscope::walk_folder(root, visit, unread); !walked.ok())
    throw Failure(ULPSCOPE_E_IO, walked.error().message);
}

// The tensor of one .bin file of an ATB dump, without the dump around it.
ulpscope::Result<std::vector<ulpscope::TensorPlace>> read_atb_place(const ulpscope::File& file) {
  ULPSCOPE_ASSIGN(ulpscope::AtbContainer container, ulpscope::read_atb_container(file));
  if (container.is_alias)
    return ulpscope::Error{ulpscope::Code::unsupported,
                           file.path() + ": holds no elements, they are those of " +
                               ulpscope::printable(container.alias) + ": name the folder of the dump"};
  if (container.dtype == ulpscope::DType::none || !container.has_data)
    return ulpscope::Error{
        ulpscope::Code::unsupported,
        file.path() + ": elements of type " + ulpscope::printable(container.type_text) + " are not read"};
  if (!ulpscope::is_dense_atb_format(container.format))
    return ulpscope::Error{ulpscope::Code::unsupported, file.path() + ": storage format " +
                                                            ulpscope::atb_format_name(container.format) +
                                                            ", expected one in the order of the dims"};
  ulpscope::TensorPlace place;
  place.dtype = container.dtype;
  place.shape = std::move(container.shape);
  place.offset = container.data_offset;
  place.size = container.data_size;
  return std::vector<ulpscope::TensorPlace>{std::move(place)};
}

ulpscope::Result<std::vector<ulpscope::TensorPlace>> places_in(const ulpscope::File& file) {
  auto places = ulpscope::read_places(file);
  return places.ok() || !ulpscope::is_atb_container(file) ? std::move(places) : read_atb_place(file);
}

bool opens_as_tensor(const std::string& path) {
  const auto file = ulpscope::File::open(path);
  return file.ok() && (ulpscope::is_atb_container(*file) ||
                       (ulpscope::sniff(*file).ok() && ulpscope::read_places(*file).ok()));
}

class TensorFiles final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "tensor_files";
  static constexpr const char* kSummary = "a tensor file (.npy, .pt, .safetensors) or a folder tree of them";
  static constexpr ulpscope_option_desc kOptions[] = {
      {"steps", "list of int", "[]", "accepted for all sources; tensor files have no steps"},
      {"ranks", "list of int", "[]", "accepted for all sources; tensor files have no ranks"},
      {"strict", "bool", "false", "a wrong checksum of a tensor file is an error"},
  };

  static ulpscope::Probe probe(std::string_view path_text) {
    const fs::path path(path_text);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_regular_file(status)) {
      if (is_tensor_name(path_text)) return {100, "a tensor file by its name"};
      if (opens_as_tensor(path.string())) return {100, "a tensor file by its bytes"};
      return {0, "not a tensor file"};
    }
    if (!fs::is_directory(status)) return {0, "no such file or folder"};
    int64_t tensors = 0;
    bool others = false;
    for_each_file(path.string(), [&](std::string_view file) {
      others = !is_tensor_name(file);
      return !others && ++tensors < kMaxProbedFiles;
    });
    if (others) return {0, "holds other files than tensor files"};
    if (tensors == 0) return {0, "holds no tensor file"};
    return {50, "a folder of tensor files only"};
  }

  TensorFiles(ulpscope::Host host, std::string_view path, std::string_view options_json)
      : host_(host),
        path_(path),
        root_(root_of(path_)),
        is_strict_(parsed(options_json).strict),
        tensors_(host, root_, {false, is_strict_, false}) {
    if (single_file()) {
      if (!is_tensor_name(path_) && !opens_as_tensor(path_))
        throw Failure(ULPSCOPE_E_FORMAT, path_ + ": expected a .npy, .pt or .safetensors file");
      return;
    }
    bool any = false;
    std::string unread;  // the first folder that may hold what was not found
    for_each_file(
        path_, [&](std::string_view file) { return !(any = is_tensor_name(file)); },
        [&](ulpscope_status code, const std::string& place, const std::string& why) {
          if (code == ULPSCOPE_E_IO && unread.empty()) unread = "/" + place + ": " + why;
        });
    if (any) return;
    if (!unread.empty()) throw Failure(ULPSCOPE_E_IO, path_ + unread);
    throw Failure(ULPSCOPE_E_FORMAT, path_ + ": no .npy, .pt or .safetensors file in it");
  }

  void scan(ulpscope::RecordSink& sink) override {
    std::vector<std::string> files;
    if (single_file())
      files.push_back(fs::path(path_).filename().string());
    else
      for_each_file(
          path_,
          [&](std::string_view file) {
            if (is_tensor_name(file)) files.emplace_back(file);
            return true;
          },
          [&](ulpscope_status code, const std::string& place, const std::string& why) {
            sink.diagnose(code, place, why);
          });
    sort_by_stem(files);
    if (!single_file()) read_names(sink, files);
    for (const std::string& file : files) {
      host_.check_cancelled();
      scan_file(sink, file);
    }
  }

  ulpscope::DataRef locate(uint64_t token) override { return tensors_.locate(token); }
  std::unique_ptr<ulpscope::ByteStream> stream(uint64_t token) override { return tensors_.stream(token); }

 private:
  static std::string root_of(const std::string& path) {
    if (fs::is_directory(path)) return path;
    std::error_code error;
    if (!fs::exists(path, error)) throw Failure(ULPSCOPE_E_IO, path + ": no such file or folder");
    const fs::path parent = fs::path(path).parent_path();
    return parent.empty() ? "." : parent.string();
  }

  static ulpscope::FrameworkOptions parsed(std::string_view json) {
    std::vector<std::string_view> names;
    for (const ulpscope_option_desc& option : kOptions) names.emplace_back(option.name);
    const auto options = ulpscope::parse_framework_options(json, names);
    if (!options.ok())
      throw Failure(static_cast<ulpscope_status>(options.error().code), options.error().message);
    return *options;
  }

  // What mapping.csv of a folder calls the files in it.
  void read_names(ulpscope::RecordSink& sink, const std::vector<std::string>& files) {
    std::set<std::string_view> names;
    for (const std::string_view file : files) names.insert(file.substr(0, file.rfind('/') + 1));
    for (const fs::path folder : names) {
      const std::string list = (folder / kMapping).string();
      if (!ulpscope::entry_kind((fs::path(path_) / list).string())) continue;
      const auto map = ulpscope::read_acl_mapping(path_, list);
      if (!map.ok()) {
        sink.diagnose(static_cast<ulpscope_status>(map.error().code), list, map.error().message);
        continue;
      }
      for (const std::string& note : map->notes) sink.diagnose(ULPSCOPE_E_FORMAT, list, note);
      for (const auto& [name, real] : map->names)
        if (is_tensor_name(real))
          names_[(folder / name).string()] = (folder / fs::path(real).filename()).string();
    }
  }

  bool single_file() const { return !fs::is_directory(path_); }

  void scan_file(ulpscope::RecordSink& sink, const std::string& file) {
    const auto opened = ulpscope::File::open_under(root_, file);
    const auto places = opened.ok() ? places_in(*opened)
                                    : ulpscope::Result<std::vector<ulpscope::TensorPlace>>(opened.error());
    const auto renamed = names_.find(file);
    const std::string name(
        stem_of(renamed == names_.end() ? std::string_view(file) : std::string_view(renamed->second)));
    if (!places.ok()) {
      // The name stands in front already. Whoever asks for the elements is told the same again.
      std::string text = places.error().message;
      const std::string prefix = (opened.ok() ? opened->path() : file) + ": ";
      if (text.starts_with(prefix)) text.erase(0, prefix.size());
      // A damaged file is a lost part of what was named; one of a kind that is not read is whole.
      const bool is_lost = places.error().code != ulpscope::Code::unsupported;
      sink.diagnose(is_lost ? ULPSCOPE_E_IO : ULPSCOPE_E_UNSUPPORTED, file, text);
      const bool says_why = !opened.ok() || !ulpscope::is_atb_container(*opened);
      add(sink, name, nullptr,
          says_why ? ulpscope::DataRef::later(tensors_.add_file(file, ulpscope::DType::none, {}))
                   : ulpscope::DataRef());
      return;
    }
    for (const ulpscope::TensorPlace& place : *places) {
      const std::string full = place.member.empty() ? name : name + "/" + place.member;
      if (!place.refusal.empty()) {
        sink.diagnose(ULPSCOPE_E_UNSUPPORTED, file + ": " + place.member, place.refusal);
        add(sink, full, nullptr, {});
      } else if (places->size() == 1 && place.member.empty()) {
        add(sink, full, &place, place_of(file, place));
      } else {
        add(sink, full, &place, ulpscope::DataRef::at(file, place.offset, place.size));
      }
    }
  }

  // Where the elements of a file's only tensor lie. What can be read as it stands needs no second opening.
  ulpscope::DataRef place_of(const std::string& file, const ulpscope::TensorPlace& place) {
    const bool is_checked_here = is_strict_ && place.crc32.has_value();
    if (!place.plain || is_checked_here || !place.warnings.empty())
      return ulpscope::DataRef::later(tensors_.add_file(file, place.dtype, place.shape));
    return place.crc32 ? ulpscope::DataRef::at(file, place.offset, place.size, *place.crc32)
                       : ulpscope::DataRef::at(file, place.offset, place.size);
  }

  // One op with its one tensor; without a place the tensor is unreadable, and data says why when it is
  // opened.
  void add(ulpscope::RecordSink& sink, const std::string& name, const ulpscope::TensorPlace* place,
           const ulpscope::DataRef& data) {
    ulpscope::OpRecord op;
    op.name = name;
    op.type = "tensor";
    op.call = calls_[name]++;
    ulpscope::TensorRecord tensor;
    tensor.op = sink.add(op);
    tensor.role = ulpscope::Role::output;
    tensor.path = "0";
    if (place != nullptr) {
      tensor.dtype = place->dtype;
      tensor.shape = place->shape;
    } else {
      tensor.absent = ULPSCOPE_ABSENT_BAD;
    }
    tensor.data = data;
    sink.add(tensor);
  }

  ulpscope::Host host_;
  std::string path_, root_;
  bool is_strict_;
  ulpscope::LateTensors tensors_;
  std::unordered_map<std::string, uint32_t> calls_;     // by name
  std::unordered_map<std::string, std::string> names_;  // file to the one that mapping.csv means
};

}  // namespace

ULPSCOPE_PLUGIN("tensor_files", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(TensorFiles));
