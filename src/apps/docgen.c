/*
 * `tidemark-docgen`: writes man pages and shell completion during the build.
 */
#include "apps/daemon_cmd.h"
#include "cli/options/docs.h"

int main(int argc, char **argv)
{
	return tdm_docgen_main(argc, argv, &tdm_cmd_daemon);
}
