/* Chooses a program. */
#include "programs.hpp"

#include <cstring>

int main(int count, char **arguments)
{
	setvbuf(stdout, nullptr, _IOLBF, 0);
	if (count >= 2)
		for (const program *table :
			{ golden_programs, life_programs, fault_programs, part_programs, strange_programs })
			for (const program *p = table; p->name; p++)
				if (strcmp(p->name, arguments[1]) == 0)
					return p->run(count - 2, arguments + 2);
	fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...]\n", arguments[0]);
	return 2;
}
