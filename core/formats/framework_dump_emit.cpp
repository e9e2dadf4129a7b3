#include "formats/framework_dump_emit.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/folder.hpp"
#include "base/text.hpp"
#include "formats/framework_dump_tokens.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kNone = TextTable::kNone;
constexpr std::string_view kDataFolder = "dump_tensor_data";
constexpr size_t kEntriesBetweenLooks = 256;  // at whether the user wants to stop

ulpscope_status status_of(const Error& error) { return static_cast<ulpscope_status>(error.code); }

// Also of a link to nothing, which is then reported as what it is.
bool exists(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0;
}

// Why the entry of a call is none; empty where it is one. What a program saved for debugging may be any
// value, and of keys of other forms nothing is known.
std::string entry_fault(const JsonTape& tape, const DumpKey& key) {
  constexpr std::string_view kWords[] = {"null",   "a truth value", "a number",
                                         "a text", "a list",        "an object"};
  const JsonKind kind = tape.at(0).kind;
  if (kind == JsonKind::object || key.form == KeyForm::debug || key.form == KeyForm::unknown) return {};
  return "the entry is " + std::string(kWords[static_cast<size_t>(kind)]) +
         ", expected an object with inputs and outputs";
}

bool has_no_elements(const Shape& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

std::string_view role_word(Role role) {
  constexpr std::string_view kWords[] = {"", "input", "input", "output", "parameter", "gradient"};
  return kWords[static_cast<size_t>(role)];
}

}  // namespace

// The report names the file beside the message: an error of the file itself need not.
std::string FolderEmitter::without_path(const std::string& message, const std::string& where) const {
  const std::string prefix = layout_.root + "/" + where + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

std::string FolderEmitter::place(std::string_view name) const {
  return folder_.relative.empty() ? std::string(name) : folder_.relative + "/" + std::string(name);
}

void FolderEmitter::emit(const DumpFolder& folder) {
  folder_ = folder;
  hint_.clear();
  hinted_token_ = -2;
  if (!layout_.file.empty()) return emit_json(layout_.file);
  bool any = false;
  for (const char* name : {"dump.json", "debug.json"}) {
    if (!exists(layout_.root + "/" + place(name))) continue;
    emit_json(name);
    any = true;
  }
  if (any) return;
  const bool companions = exists(layout_.root + "/" + place("construct.json")) ||
                          exists(layout_.root + "/" + place("stack.json"));
  if (!companions && exists(layout_.root + "/" + place(kDataFolder))) return emit_files();
  const std::string trouble = listing_trouble(layout_.root + "/" + folder_.relative);
  warn(ULPSCOPE_E_IO, folder_.relative.empty() ? layout_.root : folder_.relative,
       trouble.empty() ? "dump.json is missing" : trouble);
}

void FolderEmitter::emit_json(const std::string& name) {
  Plan plan;
  plan.where = place(name);
  auto file = open_in_dump(layout_.root, plan.where, options_.follow_links);
  if (!file.ok()) return warn(ULPSCOPE_E_IO, plan.where, without_path(file.error().message, plan.where));
  if (!plan_outline(plan, *file)) return;
  plan_companions(plan);
  if (plan.outline.entries.empty() && plan.outline.task == "structure") plan_structure(plan);
  if (plan.outline.entries.empty()) return warn(ULPSCOPE_E_FORMAT, plan.where, "no records");
  for (const OutlineEntry& entry : plan.outline.entries)
    plan.entry_keys.push_back(parse_dump_key(plan.keys.text(entry.key)));
  number_calls(plan.outline, plan.entry_keys);
  plan_parents(plan);
  if (flavour_ == FrameworkFlavour::vllm_v0) {
    const std::string warning =
        assign_tokens(plan.outline, plan.entry_keys, plan.construct, plan.keys, options_.first_token);
    if (!warning.empty()) warn(ULPSCOPE_E_FORMAT, plan.where, warning);
  }
  warn_about(plan);
  emit_entries(plan);
}

// False when the file gives no records.
bool FolderEmitter::plan_outline(Plan& plan, const File& file) {
  JsonLexer lexer(file);
  reader_.clear_oddities();
  auto outline = read_outline(lexer, plan.keys, [&](std::string_view name, OutlineEntry& entry) {
    return read_entry(plan, lexer, name, entry);
  });
  if (!outline.ok()) {
    warn(ULPSCOPE_E_IO, plan.where, outline.error().message);
    return false;
  }
  plan.outline = std::move(*outline);
  warn_of_task(plan);
  if (!plan.outline.broken) return true;
  const std::string count = std::to_string(plan.outline.entries.size());
  if (options_.salvage) {
    warn(ULPSCOPE_E_FORMAT, plan.where,
         plan.outline.broken->message + "; kept the " + count + " entries before it");
    return true;
  }
  warn(ULPSCOPE_E_IO, plan.where,
       plan.outline.broken->message + "; --source-option salvage=true keeps the " + count +
           " entries before it");
  return false;
}

// Reads and keeps an entry. False when the text is broken.
bool FolderEmitter::read_entry(Plan& plan, JsonLexer& lexer, std::string_view name, OutlineEntry& entry) {
  if (plan.kept.size() % kEntriesBetweenLooks == 0) host_.check_cancelled();
  switch (tape_.read(lexer)) {
    case JsonRead::ok:
      break;
    case JsonRead::too_deep:
      plan.kept.add_fault("nested deeper than 64 containers");
      return true;
    case JsonRead::too_large:
      plan.kept.add_fault("an entry of more than 64 MiB");
      return true;
    case JsonRead::broken:
      return false;
  }
  const DumpKey key = parse_dump_key(name);
  if (const std::string fault = entry_fault(tape_, key); !fault.empty()) {
    plan.kept.add_fault(fault);
    return true;
  }
  reader_.read(tape_, key);
  if (flavour_ == FrameworkFlavour::vllm_v0) entry.anchor = plan.anchors.is_anchor(key, reader_);
  plan.kept.add(reader_);
  return true;
}

// Steps and ranks of one run are dumped with one task; where they are not, each pair is compared by what both
// sides have.
void FolderEmitter::warn_of_task(const Plan& plan) {
  if (!plan.where.ends_with("dump.json")) return;
  if (first_place_.empty()) {
    first_task_ = plan.outline.task;
    first_place_ = plan.where;
  } else if (plan.outline.task != first_task_) {
    warn(ULPSCOPE_E_FORMAT, plan.where,
         "its task is " + printable(plan.outline.task) + ", that of " + first_place_ + " is " +
             printable(first_task_) + ": compared by what both sides have");
  }
}

void FolderEmitter::plan_companions(Plan& plan) {
  const auto read = [&](std::string_view name, auto&& reader) {
    const std::string where = place(name);
    if (!exists(layout_.root + "/" + where)) return;
    auto file = open_in_dump(layout_.root, where, options_.follow_links);
    Status status;
    if (file.ok()) {
      JsonLexer lexer(*file);
      status = reader(lexer);
    } else {
      status = file.error();
    }
    if (!status.ok())
      warn(status_of(status.error()), where, without_path(status.error().message, where) + "; not used");
  };
  read("construct.json", [&](JsonLexer& lexer) { return plan.construct.read(lexer, plan.keys); });
  read("stack.json", [&](JsonLexer& lexer) { return plan.stacks.read(lexer, plan.keys); });
}

// A dump without tensors: its ops are those of the tree, in its order.
void FolderEmitter::plan_structure(Plan& plan) {
  plan.structure = true;
  for (const uint32_t key : plan.construct.keys()) {
    if (parse_dump_key(plan.keys.text(key)).form == KeyForm::unknown) continue;
    OutlineEntry entry;
    entry.key = key;
    plan.outline.entries.push_back(entry);
  }
}

void FolderEmitter::plan_parents(Plan& plan) {
  std::vector<OutlineEntry>& entries = plan.outline.entries;
  const auto is_module = [](const DumpKey& key) { return key.form == KeyForm::module; };
  if (plan.construct.empty()) {
    if (std::none_of(plan.entry_keys.begin(), plan.entry_keys.end(), is_module)) return;
    const std::vector<uint32_t> parents = guess_parents(plan.entry_keys);
    for (size_t i = 0; i < entries.size(); ++i) entries[i].parent = parents[i];
    host_.info(plan.where + ": no construct.json; parents are guessed from the order of the entries");
    return;
  }
  std::vector<uint32_t> entry_of(plan.keys.size(), kNone);
  std::vector<bool> wanted(plan.keys.size());
  for (size_t i = entries.size(); i-- > 0;) {
    entry_of[entries[i].key] = static_cast<uint32_t>(i);
    wanted[entries[i].key] = true;
  }
  if (const int64_t lost = plan.construct.settle(wanted); lost > 0)
    warn(ULPSCOPE_E_FORMAT, place("construct.json"),
         std::to_string(lost) + " keys have an unknown parent or enclose themselves; they have none");
  for (OutlineEntry& entry : entries)
    if (const uint32_t parent = plan.construct.nearest(entry.key); parent != kNone)
      entry.parent = entry_of[parent];
}

void FolderEmitter::warn_about(const Plan& plan) {
  int64_t unknown = 0;
  std::string_view example;
  for (size_t i = 0; i < plan.entry_keys.size(); ++i) {
    const OutlineEntry& entry = plan.outline.entries[i];
    const std::string_view key = plan.keys.text(entry.key);
    if (entry.repeated)
      warn(ULPSCOPE_E_FORMAT, plan.where + ": " + printable(key),
           "the key stands there again; it counts as call " + std::to_string(entry.call));
    if (plan.entry_keys[i].form != KeyForm::unknown) continue;
    if (unknown++ == 0) example = key;
  }
  if (unknown > 0)
    warn(ULPSCOPE_E_FORMAT, plan.where,
         std::to_string(unknown) + " keys of no known form, the first is \"" + printable(example) + "\"");
}

void FolderEmitter::emit_entries(const Plan& plan) {
  first_op_ = next_op_;
  for (size_t i = 0; i < plan.outline.entries.size(); ++i) {
    if (i % kEntriesBetweenLooks == 0) host_.check_cancelled();
    emit_entry(plan, i);
  }
  if (!plan.structure) emit_oddities(plan);
}

void FolderEmitter::emit_entry(const Plan& plan, size_t index) {
  const OutlineEntry& entry = plan.outline.entries[index];
  const DumpKey& key = plan.entry_keys[index];
  op_.kind = key.kind;
  op_.phase = key.phase;
  op_.step = folder_.step;
  op_.rank = folder_.rank;
  op_.call = entry.call;
  op_.parent = entry.parent == kNone ? kNoIndex : first_op_ + entry.parent;
  op_.token = entry.token;
  op_.name = plan.keys.text(entry.key);
  op_.type = key.type;
  op_.stack = plan.stacks.stack(entry.key);
  op_.attributes_json.clear();
  const std::string_view fault = plan.structure ? std::string_view() : plan.kept.fault(index);
  const bool has_record = !plan.structure && fault.empty();
  if (has_record) {
    plan.kept.recall(index, reader_);
    op_.attributes_json = reader_.attributes();
    if (flavour_ != FrameworkFlavour::torch_api) hint_phase(plan, index);
  }
  const uint32_t op = add_op();
  if (has_record) return emit_tensors(plan, op);
  if (fault.empty()) return;
  warn(ULPSCOPE_E_FORMAT, plan.where + ": " + printable(op_.name), fault);
  emit_bad_tensor(op);
}

uint32_t FolderEmitter::add_op() {
  const uint32_t op = sink_.add(op_);
  if (op != next_op_)
    throw Failure(ULPSCOPE_E_INTERNAL, "the host numbers ops in another order than they arrive");
  ++next_op_;
  return op;
}

// Keeps a row for an entry that cannot be read.
void FolderEmitter::emit_bad_tensor(uint32_t op) {
  TensorRecord bad;
  bad.op = op;
  bad.role = Role::output;
  bad.path = "0";
  bad.absent = ULPSCOPE_ABSENT_BAD;
  sink_.add(bad);
}

void FolderEmitter::emit_tensors(const Plan& plan, uint32_t op) {
  for (size_t i = 0; i < reader_.tensor_count(); ++i) {
    const EntryTensor& tensor = reader_.tensor(i);
    tensor_.op = op;
    tensor_.role = tensor.role;
    tensor_.path = tensor.path;
    tensor_.dtype = tensor.dtype;
    tensor_.shape = tensor.shape;
    tensor_.stats = tensor.stats;
    tensor_.digest = tensor.digest;
    tensor_.flags = tensor.flags;
    tensor_.absent = 0;
    tensor_.data = {};
    if (!tensor.fault.empty()) {
      tensor_.absent = ULPSCOPE_ABSENT_BAD;
      std::string item(role_word(tensor.role));
      if (!tensor.path.empty()) item.append(".").append(tensor.path);
      warn(ULPSCOPE_E_FORMAT, plan.where + ": " + printable(op_.name) + ": " + printable(item), tensor.fault);
    } else if (tensor.foreign) {
      tensor_.absent = ULPSCOPE_ABSENT_NO_DATA;
    } else if (!tensor.data_name.empty()) {
      tensor_.data =
          DataRef::later(tensors_.add(folder_.relative, tensor.data_name, tensor.dtype, tensor.shape));
    } else if (plan.outline.task == "tensor" && has_no_elements(tensor.shape)) {
      tensor_.data = DataRef::stream(tensors_.add_file({}, tensor.dtype, tensor.shape), 0);
    } else if (tensor.stats.present == 0 && tensor.digest.empty()) {
      tensor_.absent =
          plan.outline.task == "tensor" ? ULPSCOPE_ABSENT_NO_DATA : ULPSCOPE_ABSENT_NO_STATISTICS;
    }
    sink_.add(tensor_);
  }
}

// Says once a pass (once a step without passes) whether it is a prefill or a decode, as {"phase": "prefill"}
// on its first op from the embedding on whose attributes are empty: an argument tree is not touched.
void FolderEmitter::hint_phase(const Plan& plan, size_t index) {
  const OutlineEntry& entry = plan.outline.entries[index];
  if (entry.token != hinted_token_) {
    const int64_t tokens = embedded_tokens(plan.entry_keys[index], reader_);
    if (tokens >= 0) {
      const bool later = flavour_ == FrameworkFlavour::vllm_v0 && entry.token > 0;
      hint_ = tokens > 1 && !later ? "prefill" : "decode";
      hinted_token_ = entry.token;
    }
  }
  if (hint_.empty() || !op_.attributes_json.empty()) return;
  op_.attributes_json = "{\"phase\":\"" + std::exchange(hint_, {}) + "\"}";
}

void FolderEmitter::emit_oddities(const Plan& plan) {
  const EntryOddities now = reader_.oddities();
  const std::array<std::pair<int64_t, const char*>, 6> texts = {{
      {now.repeated_members, "members stand twice in their object; the last one counts"},
      {now.out_of_range, "numbers are beyond double and read as infinite"},
      {now.placeholders, "tensors have placeholders instead of numbers (a run that crashed)"},
      {now.unknown_sections, "members of entries are of no known name and not read"},
      {now.bad_statistics, "statistics are no numbers and count as not recorded"},
      {now.unknown_digests, "checksums are of no known form and not read"},
  }};
  for (const auto& [count, text] : texts)
    if (count > 0) warn(ULPSCOPE_E_FORMAT, plan.where, std::to_string(count) + " " + text);
  reader_.clear_oddities();
}

}  // namespace ulpscope
