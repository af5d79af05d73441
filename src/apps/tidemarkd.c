/*
 * The daemon `tidemarkd`.
 */
#include "apps/daemon_cmd.h"

int main(int argc, char **argv)
{
	return tdm_program_main(&tdm_cmd_daemon, argc, argv);
}
