/* Programs that use the stand-in: each is a function, chosen by the first argument of the executable. */
#ifndef PROGRAMS_HPP
#define PROGRAMS_HPP

#include "../standin/standin.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

struct program {
	const char *name;
	int (*run)(int count, char **arguments); /* without its own name */
};
extern const program golden_programs[], life_programs[], fault_programs[], part_programs[], strange_programs[];

/* Prints what the buffer's own accessors say, a line for each chip, as the tests compare it. */
void show(const standin_buffer *buffer, unsigned first_chip, unsigned chips);
/* Prints what the allocator's own statistics say about each kind. */
void show_statistics(standin_mesh *mesh);
/* Tells the test to look now, and waits until it has: until standard input ends. */
void let_look();
/* The Nth number on the command line, or another if it is not there. */
unsigned number(int count, char **arguments, int index, unsigned otherwise);

extern const standin_cores SQUARE;

/* The buffers that the golden logs begin with: one of each kind, and one on a bare device. */
std::vector<standin_buffer *> one_of_each(standin_mesh *mesh);
void release(std::vector<standin_buffer *> &buffers);
/* Closes the mesh and gives it up. */
void end(standin_mesh *mesh);
/* Shows buffers that are on the first chips, and the statistics; lets the test look; releases and closes all. */
int show_and_end(standin_mesh *mesh, std::vector<standin_buffer *> &buffers, unsigned chips);

#endif
