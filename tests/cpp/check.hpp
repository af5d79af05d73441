// A test is a function; main() runs a list of them and counts like cmocka does.
#ifndef TDM_TEST_CHECK_HPP
#define TDM_TEST_CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <stdlib.h>

struct Test {
	const char *name;
	void (*run)();
};

inline void check(bool is_true, const char *what, const char *file, int line)
{
	if (!is_true)
		throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

// The text of what `action` throws; "" when it throws nothing.
template <typename Action> std::string thrown_by(Action action)
{
	try {
		action();
	} catch (const std::runtime_error &error) {
		return error.what();
	}
	return "";
}

inline int run_tests(const std::vector<Test> &tests)
{
	// Ledgers go into a directory that is thrown away.
	std::string directory = "/tmp/tidemark-cpp.XXXXXX";
	if (mkdtemp(directory.data()) == nullptr || setenv("TIDEMARK_DIR", directory.c_str(), 1) != 0)
		return 1;
	int failed = 0;
	for (const Test &test : tests) {
		try {
			test.run();
			std::printf("ok %s\n", test.name);
		} catch (const std::exception &error) {
			std::printf("FAILED %s: %s\n", test.name, error.what());
			failed++;
		}
	}
	std::filesystem::remove_all(directory);
	std::printf("[  PASSED  ] %d test(s).\n", static_cast<int>(tests.size()) - failed);
	if (failed > 0)
		std::printf("[  FAILED  ] %d test(s).\n", failed);
	return failed > 0 ? 1 : 0;
}

#endif
