/*
 * The command `tidemark`.
 */
#include "cli/cmd.h"

int main(int argc, char **argv)
{
	return tdm_cli_main(argc, argv);
}
