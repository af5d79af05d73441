/*
 * Part of the shared library only. That library is linked so that dlclose does not unload it; its destructor therefore
 * always means that the program is ending.
 */
#include "client/client.h"

__attribute__((constructor)) static void note_stay(void)
{
	tdm_client.stays_loaded = true;
}
