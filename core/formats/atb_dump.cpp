#include "formats/atb_dump.hpp"

#include <map>
#include <utility>

#include "formats/atb_round.hpp"
#include "formats/atb_topology.hpp"

namespace ulpscope {
Result<std::unique_ptr<AtbDump>> AtbDump::open(Host host, const std::string& path, const AtbChoice& choice) {
  ULPSCOPE_ASSIGN(AtbLayout layout, find_atb_rounds(path, choice));
  return std::unique_ptr<AtbDump>(new AtbDump(host, std::move(layout)));
}

void AtbDump::scan(RecordSink& sink) {
  for (const std::string& warning : layout_.warnings) sink.diagnose(ULPSCOPE_E_FORMAT, layout_.root, warning);
  for (const auto& [folder, why] : layout_.unread) sink.diagnose(ULPSCOPE_E_IO, folder, why);
  std::map<size_t, AtbTopology> topologies;
  uint32_t ops = 0;
  for (const AtbRound& round : layout_.rounds) {
    host_.check_cancelled();
    const auto warn = [&](const std::string& file, const Error& error) {
      // Of an error in opening the message begins with the file.
      const std::string text =
          error.message.starts_with(file + ": ") ? error.message.substr(file.size() + 2) : error.message;
      const ulpscope_status code = error.code == Code::io ? ULPSCOPE_E_IO : ULPSCOPE_E_FORMAT;
      sink.diagnose(code, file, text + "; it is not used");
    };
    if (!topologies.contains(round.process)) {
      const AtbProcessFolders& folders = layout_.processes[round.process];
      topologies.emplace(round.process, AtbTopology::read(folders.model_folder, folders.layer_folder, warn));
    }
    AtbRoundReader reader(host_, layout_.root, round, topologies.at(round.process));
    if (const Status read = reader.read(); !read.ok()) {
      sink.diagnose(ULPSCOPE_E_IO, round.relative, read.error().message);
      continue;
    }
    ops += reader.emit(sink, ops);
  }
}

}  // namespace ulpscope
