#include "formats/framework_dump.hpp"

#include <utility>

#include "formats/framework_dump_emit.hpp"

namespace ulpscope {

FrameworkDump::FrameworkDump(Host host, DumpLayout layout, FrameworkFlavour flavour,
                             const FrameworkOptions& options)
    : host_(host),
      layout_(std::move(layout)),
      flavour_(flavour),
      options_(options),
      tensors_(host, layout_.root, {options.follow_links, options.strict}) {}

Result<std::unique_ptr<FrameworkDump>> FrameworkDump::open(Host host, const std::string& path,
                                                           FrameworkFlavour flavour,
                                                           const FrameworkOptions& options) {
  ULPSCOPE_ASSIGN(DumpLayout layout, find_dump_folders(path, options));
  if (!layout.file.empty()) {
    ULPSCOPE_ASSIGN(const File file, File::open(path));
    JsonLexer lexer(file);
    if (const JsonToken first = lexer.next(); first == JsonToken::broken)
      return Error{lexer.error().code, path + ": " + lexer.error().message};
    else if (first != JsonToken::begin_object)
      return Error{Code::format, path + ": not a dump.json or debug.json: expected an object"};
  }
  return std::unique_ptr<FrameworkDump>(new FrameworkDump(host, std::move(layout), flavour, options));
}

void FrameworkDump::scan(RecordSink& sink) {
  for (const std::string& notice : layout_.notices) host_.info(notice);
  for (const std::string& warning : layout_.warnings) sink.diagnose(ULPSCOPE_E_FORMAT, layout_.root, warning);
  for (const auto& [folder, why] : layout_.unread) sink.diagnose(ULPSCOPE_E_IO, folder, why);
  FolderEmitter emitter(host_, sink, layout_, flavour_, options_, tensors_);
  for (const DumpFolder& folder : layout_.folders) {
    host_.check_cancelled();
    emitter.emit(folder);
  }
}

}  // namespace ulpscope
