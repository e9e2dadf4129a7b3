# ULPSCOPE_SANITIZE=address,undefined or thread. Every object of the build gets it, so that no report is lost at a seam.
if(ULPSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${ULPSCOPE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ULPSCOPE_SANITIZE})
  if(ULPSCOPE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
# What the fuzzer is to explore must tell it which branches were taken: every object, not the targets alone.
if(ULPSCOPE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
