#include "flow/request.hpp"

#include "base/text.hpp"
#include "formats/json_lexer.hpp"

namespace ulpscope {
namespace {

constexpr const char* kForceHalf = "--precision_mode=force_fp16";
constexpr std::string_view kMode = "--precision_mode=", kSecondMode = "--precision_mode_v2=";

// The precision option among the options of a converter line.
std::string precision_of(std::string_view options) {
  for (const std::string_view word : split(options, ' '))
    if (word.starts_with(kMode) || word.starts_with(kSecondMode)) return std::string(word);
  return kForceHalf;
}

bool is_keep(const std::string& stage) { return stage.starts_with("keep_"); }

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

}  // namespace

FlowRequest make_request(const std::string& stage, const std::vector<std::string>& keep,
                         std::string_view own_options) {
  FlowRequest request;
  request.stage = stage;
  const std::string precision = precision_of(own_options);
  // The two families of the option exclude each other.
  const bool is_second = precision.starts_with(kSecondMode);
  if (stage == "high_precision") {
    request.options = {is_second ? "--precision_mode_v2=origin" : "--precision_mode=allow_fp32_to_fp16"};
  } else if (is_keep(stage)) {
    request.options = {precision, "--keep_dtype=./exceptionlist.cfg"};
    request.files = {"exceptionlist.cfg"};
    request.keep = keep;
  } else if (stage == "cache_off") {
    request.options = {precision, "--buffer_optimize=off_optimize"};
  } else if (stage == "fusion_off") {
    request.options = {precision, "--fusion_switch_file=./fusion_switch.cfg"};
    request.removed_options = {"--buffer_optimize"};
    request.files = {"fusion_switch.cfg"};
  } else {
    return request;  // an answer, no build
  }
  request.files.push_back("acl.json");
  return request;
}

std::vector<std::pair<std::string, std::string>> request_files(const FlowRequest& request) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& name : request.files) {
    if (name == "exceptionlist.cfg") {
      // A name with a line break would become two entries.
      std::vector<std::string> lines;
      for (const std::string& kept : request.keep)
        lines.push_back(kept.find_first_of("\r\n") == std::string::npos ? kept : printable(kept));
      files.emplace_back(name, joined(lines, "\n") + "\n");
    } else if (name == "fusion_switch.cfg") {
      files.emplace_back(
          name, "{\"Switch\": {\"GraphFusion\": {\"ALL\": \"off\"}, \"UBFusion\": {\"ALL\": \"off\"}}}\n");
    } else {
      std::string text = "{\"dump\": {\"dump_list\": [{\"model_name\": ";
      append_json_text(text, request.model);
      text += "}], \"dump_path\": \"./dump\", \"dump_mode\": \"all\", \"dump_op_switch\": \"off\"}}\n";
      files.emplace_back(name, std::move(text));
    }
  }
  return files;
}

std::vector<std::string> request_lines(const FlowRequest& request, const std::string& folder,
                                       const std::string& stage_file) {
  if (!request.question.empty()) return {request.question};
  std::vector<std::string> lines;
  lines.push_back("stage " + request.stage + ": rebuild with");
  std::string options = "  " + joined(request.options, " ");
  if (!request.keep.empty())
    options += "   (" + std::to_string(request.keep.size()) +
               (request.keep.size() == 1 ? " operator kept)" : " operators kept)");
  lines.push_back(options);
  if (!request.removed_options.empty())
    lines.push_back("  and without " + joined(request.removed_options, " "));
  lines.push_back("files for it: " + printable(folder) + " (" + joined(request.files, ", ") + ")");
  lines.push_back("run once with acl.json and the same input data as stage origin, then");
  lines.push_back("  atc --mode=1 --om=MODEL.om --json=fusion.json");
  lines.push_back("add to " + printable(stage_file));
  std::string entry = "  - {name: " + request.stage + ", dump: DIR, fusion: fusion.json";
  if (!request.keep.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : request.keep) names.push_back(printable(name));
    entry += ", keep: [" + joined(names, ", ") + "]";
  }
  lines.push_back(entry + "}");
  lines.push_back("and run");
  lines.push_back("  ulpscope locate --stages " + printable(stage_file));
  return lines;
}

}  // namespace ulpscope
