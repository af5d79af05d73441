/*
 * Part of the shared library only, which is linked so that dlclose leaves it loaded: its destructor always means the
 * end of the program.
 */
#include "client/client.h"

__attribute__((constructor)) static void note_stay(void)
{
	tdm_client.stays_loaded = true;
}
