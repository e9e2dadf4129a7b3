// Folders that hold tensor files and no JSON, as graph mode writes them: the names are all there is.
//   <name>.<call>.<input|input_kwargs|output>[.<part>].pt
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "formats/framework_dump_emit.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kDataFolder = "dump_tensor_data";

struct NamedFile {
  std::string file;  // in the data folder
  std::string key;   // as a dump.json would name the call
  uint32_t call = 0;
  Role role = Role::input;
  std::string path;
};

std::optional<Role> role_of(std::string_view category) {
  if (category == "input") return Role::input;
  if (category == "input_kwargs" || category == "kwargs") return Role::kwarg;
  if (category == "output") return Role::output;
  if (category == "parameters") return Role::parameter;
  return std::nullopt;
}

std::string join(const std::vector<std::string_view>& parts, size_t first, size_t last) {
  std::string text;
  for (size_t i = first; i < last; ++i) {
    if (i > first) text += '.';
    text += parts[i];
  }
  return text;
}

bool is_direction(std::string_view part) { return part == "forward" || part == "backward"; }

// Nothing for a name of another form.
std::optional<NamedFile> parse_name(const std::string& file) {
  constexpr std::string_view kExtension = ".pt";
  if (!file.ends_with(kExtension)) return std::nullopt;
  const std::string_view stem = std::string_view(file).substr(0, file.size() - kExtension.size());
  const std::vector<std::string_view> parts = split(stem, '.');
  for (size_t i = parts.size(); i-- > 2;) {
    const auto role = role_of(parts[i]);
    if (!role) continue;
    NamedFile named{file, {}, 0, *role, join(parts, i + 1, parts.size())};
    const std::string before = join(parts, 0, i);
    DumpKey key = parse_dump_key(before);
    named.key = before;
    if (key.form == KeyForm::unknown && parse_int(parts[i - 1]) && !is_direction(parts[i - 1])) {
      const std::string name = join(parts, 0, i - 1), call(parts[i - 1]);
      named.key = parts[0] == "Module" ? name + ".forward." + call : name + "." + call + ".forward";
      key = parse_dump_key(named.key);
    }
    if (key.form != KeyForm::api && key.form != KeyForm::module) continue;
    named.call = key.call;
    return named;
  }
  return std::nullopt;
}

// "2" before "10".
bool path_less(const std::string& a, const std::string& b) {
  const auto a_number = parse_int(a), b_number = parse_int(b);
  if (a_number && b_number && *a_number != *b_number) return *a_number < *b_number;
  return a < b;
}

bool file_less(const NamedFile& a, const NamedFile& b) {
  if (a.call != b.call) return a.call < b.call;
  if (a.key != b.key) return a.key < b.key;
  if (a.role != b.role) return a.role < b.role;
  return path_less(a.path, b.path);
}

}  // namespace

bool names_a_call(const std::string& file) { return parse_name(file).has_value(); }

void FolderEmitter::emit_files() {
  const std::string where = place(kDataFolder);
  const auto names = files_in(layout_.root + "/" + where);
  if (!names.ok()) return warn(ULPSCOPE_E_IO, where, names.error().message);
  std::vector<NamedFile> files;
  for (const std::string& name : *names)
    if (auto named = parse_name(name)) files.push_back(std::move(*named));
  if (const size_t others = names->size() - files.size(); others > 0)
    host_.info(where + ": " + std::to_string(others) + " files of other names are not read");
  if (files.empty())
    return warn(ULPSCOPE_E_IO, where,
                "no dump.json, and no file of the form <name>.<call>.<input|output>.pt");
  warn(ULPSCOPE_E_FORMAT, where, "no dump.json: ops are read from file names, and their order is not known");
  std::sort(files.begin(), files.end(), file_less);
  for (size_t i = 0; i < files.size(); ++i) {
    if (i % 256 == 0) host_.check_cancelled();
    if (i == 0 || files[i].key != files[i - 1].key) {
      const DumpKey key = parse_dump_key(files[i].key);
      op_ = {};
      op_.kind = key.kind;
      op_.phase = key.phase;
      op_.step = folder_.step;
      op_.rank = folder_.rank;
      op_.call = key.call;
      op_.name = files[i].key;
      op_.type = key.type;
      add_op();
    }
    tensor_ = {};
    tensor_.op = next_op_ - 1;
    tensor_.role = files[i].role;
    tensor_.path = files[i].path;
    const std::string name = where + "/" + files[i].file;
    const auto file = open_in_dump(layout_.root, name, options_.follow_links);
    const auto places = file.ok() ? read_places(*file) : Result<std::vector<TensorPlace>>(file.error());
    if (places.ok() && places->size() == 1) {
      tensor_.dtype = places->front().dtype;
      tensor_.shape = places->front().shape;
      tensor_.data =
          DataRef::later(tensors_.add(folder_.relative, files[i].file, tensor_.dtype, tensor_.shape));
    } else {
      const Error error = places.ok() ? Error{Code::format, "expected one tensor"} : places.error();
      warn(static_cast<ulpscope_status>(error.code), name, without_path(error.message, name));
      tensor_.absent = ULPSCOPE_ABSENT_BAD;
    }
    sink_.add(tensor_);
  }
}

}  // namespace ulpscope
