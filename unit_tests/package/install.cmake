# Installs the build tree into a prefix of its own, with nothing left of an earlier run.
file(REMOVE_RECURSE ${CONSUMER_DIR})
set(config)
if(CONFIG)
  set(config --config ${CONFIG})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${PREFIX} ${config}
  COMMAND_ERROR_IS_FATAL ANY)
