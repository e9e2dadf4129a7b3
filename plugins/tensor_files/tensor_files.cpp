// Source tensor_files: one .npy, .pt or .safetensors file, or a folder tree of them. Each tensor is an op of
// its own: the quickest way to compare two arrays, and the form of a golden made on a CPU or GPU by any
// script.
#include <ulpscope/plugin.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file.hpp"
#include "formats/framework_dump_data.hpp"
#include "formats/framework_dump_layout.hpp"
#include "formats/tensor_file.hpp"

namespace {

namespace fs = std::filesystem;
using ulpscope::Failure;

constexpr int kMaxDepth = 32;              // of folders
constexpr int64_t kMaxProbedFiles = 2000;  // a probe must be quick; as many equal files tell enough

bool is_tensor_name(const fs::path& name) {
  const std::string extension = name.extension().string();
  return extension == ".npy" || extension == ".pt" || extension == ".safetensors";
}

// Beside tensors without meaning: what a person or a file manager leaves in a folder.
bool is_ignored(const fs::path& name) {
  const std::string text = name.filename().string();
  return text.starts_with('.') || text.starts_with("README");
}

// Calls body(relative path) for each file below root that is no ignored one, until it answers false. Folders
// that are links are not entered. Throws Failure io when root cannot be listed.
template <class F>
void for_each_file(const std::string& root, F body) {
  std::error_code error;
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, error);
  if (error) throw Failure(ULPSCOPE_E_IO, root + ": " + error.message());
  for (; entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (error) throw Failure(ULPSCOPE_E_IO, root + ": " + error.message());
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (entry.depth() >= kMaxDepth || entry->path().filename().string().starts_with('.'))
        entry.disable_recursion_pending();
      continue;
    }
    if (!is_ignored(entry->path()) && !body(entry->path().lexically_relative(root))) return;
  }
}

bool opens_as_tensor(const std::string& path) {
  const auto file = ulpscope::File::open(path);
  return file.ok() && ulpscope::sniff(*file).ok() && ulpscope::read_places(*file).ok();
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
      if (is_tensor_name(path)) return {100, "a tensor file by its name"};
      if (opens_as_tensor(path.string())) return {100, "a tensor file by its bytes"};
      return {0, "not a tensor file"};
    }
    if (!fs::is_directory(status)) return {0, "no such file or folder"};
    int64_t tensors = 0;
    bool others = false;
    for_each_file(path.string(), [&](const fs::path& file) {
      others = !is_tensor_name(file);
      return !others && ++tensors < kMaxProbedFiles;
    });
    if (others) return {0, "holds other files than tensor files"};
    if (tensors == 0) return {0, "holds no tensor file"};
    return {50, "a folder of tensor files only"};
  }

  TensorFiles(ulpscope::Host host, std::string_view path, std::string_view options_json)
      : host_(host), path_(path), tensors_(make_tensors(host, path, options_json)) {
    if (single_file()) {
      if (!is_tensor_name(path_) && !opens_as_tensor(path_))
        throw Failure(ULPSCOPE_E_FORMAT, path_ + ": expected a .npy, .pt or .safetensors file");
      return;
    }
    bool any = false;
    for_each_file(path_, [&](const fs::path& file) { return !(any = is_tensor_name(file)); });
    if (!any) throw Failure(ULPSCOPE_E_FORMAT, path_ + ": no .npy, .pt or .safetensors file in it");
  }

  void scan(ulpscope::RecordSink& sink) override {
    std::vector<std::string> files;
    if (single_file())
      files.push_back(fs::path(path_).filename().string());
    else
      for_each_file(path_, [&](const fs::path& file) {
        if (is_tensor_name(file)) files.push_back(file.string());
        return true;
      });
    std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
      const fs::path left(a), right(b);
      const std::string left_name = stem_of(left), right_name = stem_of(right);
      return left_name != right_name ? left_name < right_name : a < b;
    });
    for (const std::string& file : files) {
      host_.check_cancelled();
      scan_file(sink, file);
    }
  }

  ulpscope::DataRef locate(uint64_t token) override { return tensors_.locate(token); }
  std::unique_ptr<ulpscope::ByteStream> stream(uint64_t token) override { return tensors_.stream(token); }

 private:
  // The path without its extension, with '/' between folders.
  static std::string stem_of(const fs::path& file) {
    return fs::path(file).replace_extension().generic_string();
  }

  static std::string root_of(const std::string& path) {
    if (fs::is_directory(path)) return path;
    const fs::path parent = fs::path(path).parent_path();
    return parent.empty() ? "." : parent.string();
  }

  static ulpscope::LateTensors make_tensors(ulpscope::Host host, std::string_view path_text,
                                            std::string_view json) {
    std::vector<std::string_view> names;
    for (const ulpscope_option_desc& option : kOptions) names.emplace_back(option.name);
    const auto options = ulpscope::parse_framework_options(json, names);
    if (!options.ok())
      throw Failure(static_cast<ulpscope_status>(options.error().code), options.error().message);
    const std::string path(path_text);
    std::error_code error;
    if (!fs::exists(path, error)) throw Failure(ULPSCOPE_E_IO, path + ": no such file or folder");
    return {host, root_of(path), {false, options->strict}};
  }

  bool single_file() const { return !fs::is_directory(path_); }

  void scan_file(ulpscope::RecordSink& sink, const std::string& file) {
    const auto opened = ulpscope::File::open_under(root_of(path_), file);
    const auto places = opened.ok() ? ulpscope::read_places(*opened)
                                    : ulpscope::Result<std::vector<ulpscope::TensorPlace>>(opened.error());
    const std::string name = stem_of(file);
    if (!places.ok()) {
      sink.diagnose(static_cast<ulpscope_status>(places.error().code), file, places.error().message);
      add(sink, name, nullptr, {});
      return;
    }
    for (const ulpscope::TensorPlace& place : *places) {
      const std::string full = place.member.empty() ? name : name + "/" + place.member;
      if (!place.refusal.empty()) {
        sink.diagnose(ULPSCOPE_E_UNSUPPORTED, file + ": " + place.member, place.refusal);
        add(sink, full, nullptr, {});
      } else if (places->size() == 1 && place.member.empty()) {
        add(sink, full, &place, ulpscope::DataRef::later(tensors_.add_file(file, place.dtype, place.shape)));
      } else {
        add(sink, full, &place, ulpscope::DataRef::at(file, place.offset, place.size));
      }
    }
  }

  // One op with its one tensor; without a place the tensor is unreadable.
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
      tensor.data = data;
    } else {
      tensor.absent = ULPSCOPE_ABSENT_BAD;
    }
    sink.add(tensor);
  }

  ulpscope::Host host_;
  std::string path_;
  ulpscope::LateTensors tensors_;
  std::unordered_map<std::string, uint32_t> calls_;  // by name
};

}  // namespace

ULPSCOPE_PLUGIN("tensor_files", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(TensorFiles));
