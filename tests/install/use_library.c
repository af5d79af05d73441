/* A user of the installed library: prints the version it was compiled with and the one it runs with. */
#include <tidemark.h>

#include <stdio.h>

int main(void)
{
	printf("%s %s\n", TIDEMARK_VERSION, tidemark_version());
	return tidemark_version_number() == TIDEMARK_VERSION_NUMBER && tidemark_strerror(0) != NULL ? 0 : 1;
}
