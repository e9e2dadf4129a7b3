// Files of a result folder: written under a temporary name beside their place and given their name only when
// they are whole, so that a reader never sees half a report and no report replaces another. Used by every
// writer of this folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ulpscope {

// The temporary name of a file that a library writes by itself. Removes what is left under it unless
// published. One thread.
class TemporaryFile {
 public:
  // An empty file beside path. io: something has the name path already, or the folder cannot be written.
  static Result<TemporaryFile> beside(const std::string& path);

  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return temporary_; }
  const std::string& final_path() const { return final_; }
  // Gives the file its final name. io: that name is taken now, or the folder cannot be written.
  Status publish();

 private:
  TemporaryFile(std::string final_name, std::string temporary)
      : final_(std::move(final_name)), temporary_(std::move(temporary)) {}
  std::string final_, temporary_;  // temporary_ is empty once published or moved from
};

// A text file that grows through a buffer of 1 MiB. Writers append to text() and call flush_when_large()
// between rows. The first write error is kept and answered by commit(). One thread.
class OutputFile {
 public:
  // path "-" is the standard output, which has no temporary name. io as for TemporaryFile, or it cannot be
  // created.
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  std::string& text() { return buffer_; }
  void flush_when_large() {
    if (buffer_.size() >= kBufferBytes) flush();
  }
  // Writes text, which is large, behind what is buffered.
  void write(std::string_view text);
  // Writes the rest, closes, and gives the file its name. io: anything that could not be written.
  Status commit();

 private:
  static constexpr size_t kBufferBytes = size_t{1} << 20;

  OutputFile(int fd, std::string path, std::optional<TemporaryFile> file)
      : fd_(fd), path_(std::move(path)), file_(std::move(file)) {}
  void flush();

  int fd_ = -1;
  std::string path_;                   // as it was asked for
  std::optional<TemporaryFile> file_;  // nothing: the standard output, which is not closed here
  std::string buffer_;
  Status status_;
};

}  // namespace ulpscope
