// The steps of read_acl_dump, for its files only: the two kinds of header, and the placing of the bytes.
#pragma once

#include <cstdint>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/acl_dump.hpp"

namespace ulpscope {

// The message in [begin, end) of the file. Tensors are in order of part and index; offset and size_bytes are
// those of the data fields, which are empty in the current form. format, io.
Result<AclDump> read_acl_message(const File& file, uint64_t begin, uint64_t end);

// The tag-length-value header in [8, 8 + size) of the file. format.
Result<AclDump> read_acl_nano(const File& file, uint64_t size);

// Gives the tensors of a dump their place in the bytes from begin to the end of the file, and settles what is
// missing or too much. Never fails: states and warnings say what was found.
void place_acl_data(const File& file, uint64_t begin, AclDump& dump);

// Holds each tensor's bytes against its type and shape.
void check_acl_tensors(AclDump& dump);

}  // namespace ulpscope
