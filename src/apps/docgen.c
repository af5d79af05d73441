/*
 * The build's tool `tidemark-docgen`.
 */
#include "cli/docgen_main.h"

int main(int argc, char **argv)
{
	return tdm_docgen_main(argc, argv);
}
