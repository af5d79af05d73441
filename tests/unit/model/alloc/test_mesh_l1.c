/* The L1 of a mesh in the hybrid mode: what each kind of buffer must avoid, the bounds, and random requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/err.h"
#include "model/alloc/mesh_l1.h"

static const struct tdm_freelist_config config = { 4096, 16384, 32, 32, TDM_FIT_FIRST };

struct mesh {
	struct tdm_freelist *whole;
	struct tdm_mesh_l1 *l1;
};

static struct mesh mesh_of(uint32_t devices, uint32_t cores)
{
	struct mesh mesh;
	assert_int_equal(tdm_freelist_new(&config, &mesh.whole), 0);
	assert_int_equal(tdm_mesh_l1_new(mesh.whole, &config, devices, cores, &mesh.l1), 0);
	return mesh;
}

static void mesh_done(struct mesh *mesh)
{
	assert_true(tdm_mesh_l1_is_valid(mesh->l1));
	tdm_mesh_l1_free(mesh->l1);
	tdm_freelist_free(mesh->whole);
}

static void a_mesh_has_bounds(void **state)
{
	struct tdm_mesh_l1 *mesh;
	(void)state;
	assert_int_equal(tdm_mesh_l1_new(NULL, &config, 0, 1, &mesh), -EINVAL);
	assert_int_equal(tdm_mesh_l1_new(NULL, &config, 1, 0, &mesh), -EINVAL);
	assert_int_equal(tdm_mesh_l1_new(NULL, &config, TDM_MESH_DEVICES_MAX + 1, 1, &mesh), -EINVAL);
	assert_int_equal(tdm_mesh_l1_new(NULL, &config, 1, TDM_MESH_CORES_MAX + 1, &mesh), -EINVAL);
	assert_int_equal(tdm_mesh_l1_new(NULL, &config, 17, TDM_MESH_CORES_MAX, &mesh), -EINVAL);
}

static void cores_share_addresses_and_lockstep_avoids_them_all(void **state)
{
	struct mesh mesh = mesh_of(2, 3);
	uint64_t a, b, lockstep, bare;
	uint32_t device;
	(void)state;
	assert_int_equal(tdm_mesh_l1_alloc_core(mesh.l1, 0, 0, 1000, TDM_TOP_DOWN, &a), 0);
	assert_int_equal(tdm_mesh_l1_alloc_core(mesh.l1, 1, 2, 2000, TDM_TOP_DOWN, &b), 0);
	assert_int_equal(a, 4096 + 16384 - 1024);
	assert_int_equal(b, 4096 + 16384 - 2016);
	assert_int_equal(tdm_mesh_l1_alloc(mesh.l1, TDM_MESH_WHOLE, 32, TDM_TOP_DOWN, &lockstep), 0);
	assert_int_equal(lockstep, b - 32);
	assert_int_equal(tdm_mesh_l1_mirror(mesh.l1, lockstep, 32, &device), 0);
	/* A bare device sees the mirror and its own cores, but not those of the other device. */
	assert_int_equal(tdm_mesh_l1_alloc(mesh.l1, 0, 32, TDM_TOP_DOWN, &bare), 0);
	assert_int_equal(bare, a - 32);
	assert_int_equal(tdm_mesh_l1_core(mesh.l1, 1, 2).allocated, 2016);
	assert_int_equal(tdm_mesh_l1_core(mesh.l1, 1, 1).allocated, 0);
	assert_int_equal(tdm_mesh_l1_device(mesh.l1, 0).allocated, 64);
	tdm_mesh_l1_release(mesh.l1, TDM_MESH_WHOLE, lockstep);
	assert_int_equal(tdm_mesh_l1_device(mesh.l1, 1).allocated, 0);
	assert_int_equal(tdm_freelist_stats(mesh.whole).allocated, 0);
	mesh_done(&mesh);
}

static void a_mirror_needs_room_on_every_device(void **state)
{
	struct mesh mesh = mesh_of(3, 1);
	uint64_t bare, lockstep;
	uint32_t device = 0;
	(void)state;
	assert_int_equal(tdm_mesh_l1_alloc(mesh.l1, 2, 64, TDM_TOP_DOWN, &bare), 0);
	assert_int_equal(tdm_mesh_l1_alloc(mesh.l1, TDM_MESH_WHOLE, 128, TDM_TOP_DOWN, &lockstep), 0);
	assert_int_equal(tdm_mesh_l1_mirror(mesh.l1, lockstep, 128, &device), TDM_EOCCUPIED);
	assert_int_equal(device, 2);
	tdm_mesh_l1_release(mesh.l1, TDM_MESH_WHOLE, lockstep);
	assert_int_equal(tdm_mesh_l1_device(mesh.l1, 0).allocated, 0);
	assert_int_equal(tdm_mesh_l1_device(mesh.l1, 2).allocated, 64);
	mesh_done(&mesh);
}

static void a_place_below_zero_is_an_error(void **state)
{
	struct mesh mesh = mesh_of(1, 1);
	uint64_t a, wrapped;
	(void)state;
	assert_int_equal(tdm_mesh_l1_alloc_core(mesh.l1, 0, 0, 16000, TDM_TOP_DOWN, &a), 0);
	assert_int_equal(tdm_mesh_l1_alloc(mesh.l1, TDM_MESH_WHOLE, 8192, TDM_TOP_DOWN, &wrapped), -EOVERFLOW);
	assert_int_equal(wrapped, a - 8192);
	assert_int_equal(tdm_mesh_l1_alloc(mesh.l1, TDM_MESH_WHOLE, 8192, TDM_BOTTOM_UP, &wrapped), TDM_ENOFIT);
	assert_int_equal(tdm_mesh_l1_alloc(mesh.l1, TDM_MESH_WHOLE, 4096, TDM_TOP_DOWN, &wrapped), TDM_ENOFIT);
	assert_int_equal(tdm_freelist_stats(mesh.whole).allocated, 0);
	mesh_done(&mesh);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mesh_has_bounds),
		cmocka_unit_test(cores_share_addresses_and_lockstep_avoids_them_all),
		cmocka_unit_test(a_mirror_needs_room_on_every_device),
		cmocka_unit_test(a_place_below_zero_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
