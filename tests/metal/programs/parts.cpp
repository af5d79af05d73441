/* Programs with all that programs can have, and programs that outlive their device. */
#include "programs.hpp"

static int parts(int, char **)
{
	static const standin_cores one = { 1, 1, 1, 1 }, row = { 0, 2, 3, 2 };
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304);
	standin_program *first = standin_new_program(mesh, "ttnn::matmul");
	standin_add_cb(first, &row, 4096, nullptr);
	standin_add_kernel(first, "reader/1/", 1000);
	standin_enqueue(first);
	standin_program *second = standin_new_program(mesh, nullptr);
	standin_add_dfb(second, &one, 2048, 4);
	standin_add_dfb(second, &row, 2048, 4);
	standin_add_dfb(second, &one, 1024, 2);
	standin_add_scratchpad(second, 1024);
	standin_add_kernel(second, "writer/2/", 300);
	standin_add_kernel(second, "compute/3/", 400);
	standin_add_kernel(second, "Kernel_Source_Code/4/", 500);
	standin_prepare(second);
	standin_program *third = standin_new_program(mesh, nullptr);
	standin_add_cb(third, &one, 512, nullptr);
	standin_enqueue(third);
	standin_buffer *buffer = standin_allocate(mesh, STANDIN_DRAM, 2048, 2048, nullptr);
	let_look();
	standin_release(buffer);
	standin_close(mesh);
	for (standin_program *program : { first, second, third })
		standin_drop_program(program);
	standin_drop_mesh(mesh);
	return 0;
}

/* A program that goes to a second mesh: what it has is laid out already. */
static int second_mesh(int, char **)
{
	static const standin_cores row = { 0, 2, 3, 2 };
	standin_mesh *mesh = standin_open("n300", 1, 2, 32768, 4194304), *part = standin_submesh(mesh, 1, 1);
	standin_program *program = standin_new_program(part, nullptr);
	standin_add_dfb(program, &row, 2048, 4);
	standin_add_kernel(program, "writer/2/", 300);
	standin_prepare(program);
	standin_prepare_on(program, mesh);
	standin_prepare_on(program, mesh);
	let_look();
	standin_drop_program(program);
	standin_close(part);
	standin_close(mesh);
	standin_drop_mesh(part);
	standin_drop_mesh(mesh);
	return 0;
}

const program part_programs[] = { { "parts", parts }, { "second_mesh", second_mesh }, { nullptr, nullptr } };
