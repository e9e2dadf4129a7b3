#include "cli/answer.hpp"

#include <utility>

#include "report/output_file.hpp"

namespace ulpscope {

Status give_answer(Context& context, const Answer& answer, const std::string& format) {
  if (context.options().has("output_path")) {
    ULPSCOPE_ASSIGN(const std::string folder, context.make_output_folder(answer.command));
    for (const auto& [end, text] : {std::pair{".json", &answer.json}, std::pair{".txt", &answer.text}}) {
      ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(folder + "/" + answer.command + "_result" + end));
      file.text() += *text;
      ULPSCOPE_TRY(file.commit());
    }
  }
  if (format == "json")
    context.out() << answer.json;
  else
    context.out() << (answer.shown.empty() ? answer.text : answer.shown);
  return {};
}

}  // namespace ulpscope
