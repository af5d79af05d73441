/* A program that never loads the runtime. */
#include <stdio.h>

int main(void)
{
	puts("plain");
	return 0;
}
