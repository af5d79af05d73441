// The same as use_library.c, in C++.
#include <tidemark.h>

#include <iostream>

int main()
{
	std::cout << TIDEMARK_VERSION << ' ' << tidemark_version() << '\n';
	return tidemark_version_number() == TIDEMARK_VERSION_NUMBER && tidemark_strerror(0) != nullptr ? 0 : 1;
}
