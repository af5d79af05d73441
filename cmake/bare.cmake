# The parts that a build with TDM_BARE leaves out: everything that needs an outside library. It is for processors for
# which only a compiler and its C library are installed (preset aarch64). It still has the client library, its ledgers
# and all their readers, the device model, and the daemon but for HTTP.
set(TDM_BARE_WITHOUT_LAYERS tui scan cli) # ncurses; tree-sitter; all
set(TDM_BARE_WITHOUT_FILES input/capture/graph_capture.c input/capture/capture_json.c base/json_walk.c analyze/budget/budget_read.c # yajl
	live/remote/remote_picture.c live/remote/fleet.c # yajl, curl
	daemon/http/http.c daemon/work/daemon_run.c) # libmicrohttpd

# Tests that need one of those. A test that cannot be linked in such a build belongs here.
set(TDM_BARE_WITHOUT_TESTS
	unit.plot unit.plot_texts unit.device_map fuzz.train_log # plot
	unit.tui_model unit.tui_growth           # tui
	unit.args unit.demo unit.docs unit.doctor integration.log_follow integration.behalf_views fuzz.log # cli
	unit.graph_capture unit.capture_devices unit.capture_random unit.capture_stock fuzz.capture # input/capture/capture_json.c
	unit.remote_picture unit.fleet unit.budget fuzz.budget fuzz.remote_picture fuzz.http_request # base/json_walk.c
	unit.input                               # zlib, liblzma, libzstd
	unit.ttnn_report fuzz.ttnn_report        # libsqlite3
	unit.scan_expr unit.scan unit.scan_faults unit.scan_budget unit.scan_kernels fuzz.scan fuzz.scan_kernels fuzz.scan_python # scan
	integration.torn # signals that an emulator delays
	unit.symbolize) # libdw, without which no function has a name

# Removes the tests that are left out from a list of sources. Test names begin with `prefix`, file names with `strip`.
function(tdm_take_out_tests list prefix strip)
	set(kept)
	foreach(source ${${list}})
		get_filename_component(name ${source} NAME_WE)
		string(REGEX REPLACE "^${strip}" "${prefix}" name ${name})
		if(NOT TDM_BARE OR NOT name IN_LIST TDM_BARE_WITHOUT_TESTS)
			list(APPEND kept ${source})
		endif()
	endforeach()
	set(${list} ${kept} PARENT_SCOPE)
endfunction()
