/*
 * The command `tidemark`.
 */
#include "cli/options/cmd.h"

int main(int argc, char **argv)
{
	return tdm_cli_main(argc, argv);
}
