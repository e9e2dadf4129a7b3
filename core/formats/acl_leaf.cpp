#include "formats/acl_leaf.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "formats/acl_types.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kStatistics = "statistic.csv";

// Damage of a file loses a part of the dump to the run, whatever kind it is. file: relative to root.
void diagnose_lost(const AclDiagnose& diagnose, const std::string& root, const std::string& file,
                   const Error& error) {
  const std::string path = root + "/" + file + ": ";
  const bool is_named = error.message.starts_with(path);
  diagnose(ULPSCOPE_E_IO, printable(file), is_named ? error.message.substr(path.size()) : error.message);
}

class LeafReader {
 public:
  LeafReader(const Host& host, const AclTree& tree, const AclLeaf& leaf, const FusionGraph* graph,
             const AclDiagnose& diagnose)
      : host_(host), tree_(tree), leaf_(leaf), graph_(graph), diagnose_(diagnose) {}

  Result<AclLeafContents> run() {
    ULPSCOPE_TRY(list());
    read_files();
    make_calls();
    add_statistics();
    add_arrays();
    find_operators();
    order();
    add_overflows();
    return std::move(out_);
  }

 private:
  std::string relative(const std::string& name) const {
    return leaf_.folder.empty() ? name : leaf_.folder + "/" + name;
  }

  Status list() {
    const std::string folder = leaf_.folder.empty() ? tree_.root : tree_.root + "/" + leaf_.folder;
    if (entry_kind(folder + "/mapping.csv")) {
      auto map = read_acl_mapping(tree_.root, relative("mapping.csv"));
      if (!map.ok()) {
        diagnose_lost(diagnose_, tree_.root, relative("mapping.csv"), map.error());
      } else {
        for (const std::string& note : map->notes)
          diagnose_(ULPSCOPE_E_FORMAT, relative("mapping.csv"), note);
        hashed_ = std::move(map->names);
      }
    }
    std::vector<std::string> names;
    ULPSCOPE_TRY(for_each_entry(folder, [&](std::string_view entry, EntryKind kind) {
      std::string name(entry);
      if (!tree_.file.empty() && name != tree_.file) return true;
      // Something else under the name of a file of the dump stands for one that cannot be read: opening it
      // says what it is.
      const bool is_known = parse_acl_name(name) || hashed_.contains(name) || name == kStatistics;
      if (kind == EntryKind::link && is_known && is_second_name(folder, name))
        diagnose_(ULPSCOPE_E_FORMAT, relative(printable(name)),
                  "a symbolic link to another file of the folder: left out");
      else if (kind == EntryKind::file || is_known)
        names.push_back(std::move(name));
      return true;
    }));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) take_name(name);
    return {};
  }

  // {name}.{output}.{timestamp}.npy, or what mapping.csv calls so.
  bool take_array(const std::string& name) {
    const auto mapped = hashed_.find(name);
    const std::string& real = mapped == hashed_.end() ? name : mapped->second;
    constexpr std::string_view kExtension = ".npy";
    if (!tree_.file.empty() || !real.ends_with(kExtension)) return false;
    const auto golden = parse_golden_name(std::string_view(real).substr(0, real.size() - kExtension.size()));
    if (!golden) return false;
    arrays_[std::string(golden->name)].push_back({golden->output, golden->timestamp, relative(name)});
    return true;
  }

  // Whether the link stands for a file that is read under its own name: nothing is lost without it.
  bool is_second_name(const std::string& folder, const std::string& link) const {
    std::error_code failed;
    const auto place = std::filesystem::canonical(folder + "/" + link, failed);
    if (failed || place.parent_path() != std::filesystem::canonical(folder, failed)) return false;
    const std::string name = place.filename().string();
    return parse_acl_name(name) || hashed_.contains(name);
  }

  void take_name(const std::string& name) {
    if (take_array(name)) return;
    std::optional<AclFileName> parsed = parse_acl_name(name);
    if (const auto mapped = hashed_.find(name); !parsed && mapped != hashed_.end())
      parsed = parse_acl_name(mapped->second);
    if (!parsed && !tree_.file.empty())
      parsed = AclFileName{AclFileKind::tensors, "", name, 0, 0, -1, -1, -1, false, false};
    if (name == kStatistics) {
      statistics_.emplace_back(AclFileName{}, relative(name));
    } else if (!parsed) {
      if (name != "mapping.csv" && !name.ends_with(".json"))
        diagnose_(ULPSCOPE_OK, relative(printable(name)), "not a dump file by its name: left out");
    } else if (parsed->kind == AclFileKind::statistics) {
      statistics_.emplace_back(*parsed, relative(name));
    } else {
      AclFile file;
      file.name = *std::move(parsed);
      file.file = relative(name);
      (file.name.kind == AclFileKind::overflow ? records_ : out_.files).push_back(std::move(file));
    }
  }

  void read_files() {
    const auto read = [this](AclFile& each) {
      host_.check_cancelled();
      auto file = File::open_under(tree_.root, each.file);
      auto dump = file.ok() ? read_acl_dump(*file) : Result<AclDump>(file.error());
      if (!dump.ok()) {
        each.error = dump.error();
        return;
      }
      each.dump = std::move(dump).value();
      each.identity = each.dump.op_name.empty() ? each.name.op_name : each.dump.op_name;
    };
    host_.parallel_for(out_.files.size(), [&](uint64_t i) { read(out_.files[i]); });
    for (AclFile& record : records_) read(record);
    for (const AclFile& file : out_.files) {
      if (file.error) diagnose_lost(diagnose_, tree_.root, file.file, *file.error);
      for (const std::string& warning : file.dump.warnings) diagnose_(ULPSCOPE_E_FORMAT, file.file, warning);
    }
    std::erase_if(out_.files, [](const AclFile& file) { return file.error.has_value(); });
    // File order is name order; calls of one operator follow in time, slices by thread.
    std::stable_sort(out_.files.begin(), out_.files.end(), [](const AclFile& a, const AclFile& b) {
      const auto key = [](const AclFile& f) {
        return std::tuple(std::string_view(f.identity), f.name.sliced ? f.name.thread : -1,
                          f.name.timed ? f.name.timestamp : 0, f.name.timestamp);
      };
      return key(a) < key(b);
    });
  }

  static bool is_slice(const AclFile& file) {
    return file.name.sliced && !file.dump.attributes.empty() &&
           file.dump.attributes[0].second.find("slice_instance_num") != std::string::npos;
  }

  void make_calls() {
    // Slices of one call: equal name, task, stream and context.
    std::map<std::tuple<std::string, uint64_t, int64_t, int64_t>, size_t> sliced;
    for (size_t i = 0; i < out_.files.size(); ++i) {
      const AclFile& file = out_.files[i];
      if (is_slice(file)) {
        const auto key = std::tuple(file.identity, file.name.task, file.name.stream, file.name.context);
        const auto [entry, fresh] = sliced.emplace(key, out_.calls.size());
        if (!fresh) {
          out_.calls[entry->second].files.push_back(i);
          continue;
        }
      }
      AclCall call;
      call.name = file.identity;
      call.type = file.name.op_type;
      call.call = counts_[call.name]++;
      call.task = file.name.task;
      call.stream = file.name.stream;
      call.timestamp = file.name.timestamp;
      call.files = {i};
      out_.calls.push_back(std::move(call));
    }
  }

  void add_statistics() {
    for (const auto& [name, file] : statistics_) {
      auto read = read_acl_statistics(tree_.root, file);
      if (!read.ok()) {
        diagnose_lost(diagnose_, tree_.root, file, read.error());
        continue;
      }
      for (const std::string& note : read->notes) diagnose_(ULPSCOPE_E_FORMAT, file, note);
      std::map<std::tuple<std::string, uint64_t, uint64_t>, size_t> calls;
      for (AclStatistic& row : read->rows) {
        const bool own = name.op_name.empty();  // a folder's table names the operator in each row
        const std::string op = own ? row.op_name : name.op_name;
        const uint64_t task = own ? row.task : name.task, time = own ? row.timestamp : name.timestamp;
        const auto [entry, fresh] = calls.emplace(std::tuple(op, task, time), out_.calls.size());
        if (fresh) {
          AclCall call;
          call.name = op;
          call.type = own ? row.op_type : name.op_type;
          call.call = counts_[op]++;
          call.task = task;
          call.timestamp = time;
          call.stream = name.stream;
          out_.calls.push_back(std::move(call));
        }
        out_.calls[entry->second].statistics.push_back(std::move(row));
      }
    }
  }

  // One more call of each operator that arrays name: that of the dumps with the same escaped name, if it is
  // one.
  void add_arrays() {
    std::map<std::string, const AclFile*, std::less<>> dumped;
    for (const AclFile& file : out_.files) {
      const auto [entry, fresh] = dumped.emplace(acl_escaped(file.identity), &file);
      if (!fresh && entry->second != nullptr && entry->second->identity != file.identity)
        entry->second = nullptr;  // two operators: the array cannot say which one it is
    }
    for (auto& [name, arrays] : arrays_) {
      std::sort(arrays.begin(), arrays.end(), [](const AclArray& a, const AclArray& b) {
        return std::tuple(a.output, a.timestamp) < std::tuple(b.output, b.timestamp);
      });
      AclCall call;
      const auto file = dumped.find(name);
      const bool known = file != dumped.end() && file->second != nullptr;
      call.name = known ? file->second->identity : name;
      call.type = known ? file->second->name.op_type : std::string();
      call.task = known ? file->second->name.task : UINT64_MAX;
      call.call = counts_[call.name]++;
      for (size_t i = 0; i < arrays.size(); ++i) {
        if (i + 1 < arrays.size() && arrays[i + 1].output == arrays[i].output) {
          diagnose_(ULPSCOPE_OK, arrays[i].file, "a later array of the same output is taken");
          continue;
        }
        call.timestamp = std::max(call.timestamp, arrays[i].timestamp);
        call.arrays.push_back(std::move(arrays[i]));
      }
      out_.calls.push_back(std::move(call));
    }
  }

  // The operator of the compiled model: by its name, or by the escaped one where a file has no other.
  void find_operators() {
    if (graph_ == nullptr) return;
    std::unordered_map<std::string, uint32_t> escaped;
    for (uint32_t i = 0; i < graph_->ops().size(); ++i) {
      const auto [entry, fresh] = escaped.emplace(acl_escaped(graph_->ops()[i].name), i);
      if (!fresh) entry->second = kNoIndex;  // two operators: the file cannot say which one it is
    }
    int64_t unknown = 0;
    for (AclCall& call : out_.calls) {
      call.fusion_op = graph_->find(call.name);
      const bool named = !call.files.empty() && !out_.files[call.files[0]].dump.op_name.empty();
      if (const auto found = escaped.find(call.name);
          call.fusion_op == kNoIndex && !named && found != escaped.end())
        call.fusion_op = found->second;
      if (call.fusion_op != kNoIndex && !named) call.name = graph_->ops()[call.fusion_op].name;
      unknown += call.fusion_op == kNoIndex ? 1 : 0;
    }
    if (unknown > 0)
      diagnose_(ULPSCOPE_E_FORMAT, leaf_.folder.empty() ? tree_.root : leaf_.folder,
                std::to_string(unknown) + " of " + std::to_string(out_.calls.size()) +
                    " operators are not in the json of the compiled model: is it of another build?");
  }

  // By the place in the compiled model, else by task; repeated operators (loops) need the time.
  void order() {
    const bool repeated =
        std::any_of(out_.calls.begin(), out_.calls.end(), [](const AclCall& call) { return call.call > 0; });
    const auto place = [&](const AclCall& call) {
      return call.fusion_op == kNoIndex ? INT64_MAX : graph_->ops()[call.fusion_op].id;
    };
    std::stable_sort(out_.calls.begin(), out_.calls.end(), [&](const AclCall& a, const AclCall& b) {
      if (repeated && a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
      return std::tuple(place(a), a.task, a.timestamp, a.call) <
             std::tuple(place(b), b.task, b.timestamp, b.call);
    });
  }

  // The call that a record means: task and stream, and of slices context and thread; the earliest of several.
  AclCall* call_of(const AclOverflow& record) {
    AclCall* found = nullptr;
    for (AclCall& call : out_.calls) {
      if (call.task != record.task ||
          (call.stream >= 0 && static_cast<uint64_t>(call.stream) != record.stream))
        continue;
      const bool here =
          call.files.empty() || std::any_of(call.files.begin(), call.files.end(), [&](size_t i) {
            const AclFileName& name = out_.files[i].name;
            return !name.sliced || ((record.context < 0 || record.context == name.context) &&
                                    (record.thread < 0 || record.thread == name.thread));
          });
      if (here && (found == nullptr || call.timestamp < found->timestamp)) found = &call;
    }
    return found;
  }

  void add_overflows() {
    for (const AclFile& file : records_) {
      auto record = read_record(file);
      if (!record.ok()) {
        diagnose_lost(diagnose_, tree_.root, file.file, record.error());
        continue;
      }
      if (record->findings.empty()) diagnose_(ULPSCOPE_OK, file.file, "no overflow: " + record->note);
      for (AclOverflow& found : record->findings) {
        if (AclCall* call = call_of(found)) {
          call->overflows.push_back(std::move(found));
          continue;
        }
        diagnose_(ULPSCOPE_E_FORMAT, file.file,
                  "no operator of the dump has task " + std::to_string(found.task) + " and stream " +
                      std::to_string(found.stream));
        AclCall alone;
        alone.name = file.identity;
        alone.type = file.name.op_type;
        alone.call = counts_[alone.name]++;
        alone.task = file.name.task;
        alone.stream = file.name.stream;
        alone.timestamp = file.name.timestamp;
        alone.overflows.push_back(std::move(found));
        out_.calls.push_back(std::move(alone));
      }
    }
  }

  Result<AclOverflowRecord> read_record(const AclFile& file) const {
    if (file.error) return *file.error;
    for (const AclTensor& tensor : file.dump.tensors) {
      if (tensor.part != AclPart::output) continue;
      if (tensor.state == AclState::bad && tensor.size_bytes == 0) return Error{Code::format, tensor.problem};
      std::vector<std::byte> bytes(static_cast<size_t>(std::min(tensor.size, kAclOverflowBytes)));
      ULPSCOPE_ASSIGN(const File opened, File::open_under(tree_.root, file.file));
      ULPSCOPE_TRY(opened.read_exact(tensor.offset, bytes));
      return parse_acl_overflow(bytes);
    }
    return Error{Code::format, "an overflow record without an output"};
  }

  const Host& host_;
  const AclTree& tree_;
  const AclLeaf& leaf_;
  const FusionGraph* graph_;
  const AclDiagnose& diagnose_;
  std::map<std::string, std::string, std::less<>> hashed_;
  std::vector<std::pair<AclFileName, std::string>> statistics_;
  std::map<std::string, std::vector<AclArray>> arrays_;  // by the name in that of the file
  std::vector<AclFile> records_;
  std::unordered_map<std::string, uint32_t> counts_;  // calls so far, by name
  AclLeafContents out_;
};

}  // namespace

Result<AclLeafContents> read_acl_leaf(const Host& host, const AclTree& tree, const AclLeaf& leaf,
                                      const FusionGraph* graph, const AclDiagnose& diagnose) {
  return LeafReader(host, tree, leaf, graph, diagnose).run();
}

}  // namespace ulpscope
