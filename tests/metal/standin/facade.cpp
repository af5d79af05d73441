/* The functions of standin.h, and in the build that says nonsense, what it says. */
#include "runtime.hpp"
#include "standin.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;
#if !SINCE(65)
using ::CoreRange;
using ::CoreRangeSet;
#endif

struct standin_mesh {
	std::shared_ptr<MeshDevice> mesh;
};
struct standin_buffer {
	std::shared_ptr<MeshBuffer> mesh;
	std::shared_ptr<Buffer> bare;
	const std::shared_ptr<Buffer> &buffer() const
	{
		return mesh ? mesh->backing : bare;
	}
};
struct standin_program {
	std::shared_ptr<MeshWorkloadImpl> workload;
	std::shared_ptr<detail::ProgramImpl> impl() const
	{
		if (!workload->program)
			workload->program.emplace();
		return workload->program->impl;
	}
};

static AllocatorConfig config_of(const char *card)
{
	AllocatorConfig config{ Arch::WORMHOLE, { 8, 8 }, 12, 32, 1048640, 1073741824, 105664, 1499136, 0, 0 };
	if (strcmp(card, "n300") == 0)
		config.grid.y = 7;
	else if (strcmp(card, "p150") == 0)
		config = { Arch::BLACKHOLE, { 13, 10 }, 8, 64, 1048704, 4278190080, 111616, 1572864, 0, 0 };
	else if (strcmp(card, "n150") != 0)
		throw std::runtime_error(std::string("no such card: ") + card);
	return config;
}

static CoreRangeSet set_of(const standin_cores *cores)
{
	return CoreRangeSet(CoreRange({ cores->x0, cores->y0 }, { cores->x1, cores->y1 }));
}

int standin_release_number(void)
{
	return STANDIN;
}

struct standin_mesh *standin_open(
	const char *card, unsigned rows, unsigned columns, size_t l1_small, size_t trace_region)
{
	AllocatorConfig config = config_of(card);
	config.l1_small = l1_small;
	config.trace_region = trace_region;
	return new standin_mesh{ MeshDevice::create(rows, columns, config) };
}

struct standin_mesh *standin_submesh(struct standin_mesh *mesh, unsigned rows, unsigned columns)
{
	return new standin_mesh{ mesh->mesh->submesh(rows, columns) };
}

void standin_close(struct standin_mesh *mesh)
{
	mesh->mesh->close();
}

void standin_drop_mesh(struct standin_mesh *mesh)
{
	delete mesh;
}

struct standin_buffer *standin_allocate(
	struct standin_mesh *mesh, int type, uint64_t size, uint64_t page_size, const struct standin_cores *shards)
{
	CoreRangeSet set;
	if (shards)
		set = set_of(shards);
	return new standin_buffer{
		std::make_shared<MeshBuffer>(
			mesh->mesh.get(), size, page_size, (BufferType)type, shards ? &set : nullptr),
		nullptr,
	};
}

struct standin_buffer *standin_allocate_bare(
	struct standin_mesh *mesh, unsigned chip, int type, uint64_t size, uint64_t page_size)
{
	IDevice *device = mesh->mesh->inner->devices.at(chip).get();
	return new standin_buffer{ nullptr, Buffer::create(device, size, page_size, (BufferType)type, nullptr) };
}

void standin_release(struct standin_buffer *buffer)
{
	delete buffer;
}

void standin_look(const struct standin_buffer *of, struct standin_facts *facts)
{
	const Buffer &buffer = *of->buffer();
	*facts = { buffer.address(), buffer.size(), buffer.page_size(), buffer.taken(), (uint32_t)buffer.buffer_type(),
		buffer.allocator()->get_num_banks(buffer.buffer_type()), buffer.num_cores().value_or(0) };
}

void standin_statistics(struct standin_mesh *mesh, int type, uint64_t figures[4])
{
	Statistics said = mesh->mesh->allocator()->get_statistics((BufferType)type);
	figures[0] = said.total;
	figures[1] = said.allocated;
	figures[2] = said.free;
	figures[3] = said.largest;
}

struct standin_program *standin_new_program(struct standin_mesh *mesh, const char *operation)
{
	auto workload = std::make_shared<MeshWorkloadImpl>(mesh->mesh);
	workload->operation = operation ? operation : "";
	return new standin_program{ workload };
}

void standin_add_cb(struct standin_program *program, const struct standin_cores *cores, uint64_t size,
	const struct standin_buffer *global)
{
	auto cb = std::make_shared<CircularBufferImpl>();
	cb->id = program->impl()->cbs.size();
	cb->cores = set_of(cores);
	cb->size = size;
	if (global)
		cb->global = global->buffer();
	program->impl()->cbs.push_back(cb);
}

void standin_resize_cb(struct standin_program *program, unsigned index, uint64_t size)
{
	program->impl()->cbs.at(index)->size = size;
	program->impl()->invalidate_circular_buffer_allocation();
}

uint64_t standin_cb_address(const struct standin_program *program, unsigned index)
{
	return program->impl()->cbs.at(index)->true_address;
}

void standin_add_dfb(
	struct standin_program *program, const struct standin_cores *cores, uint32_t entry_bytes, uint32_t entries)
{
	auto dfb = std::make_shared<experimental::dfb::detail::DataflowBufferImpl>();
	dfb->cores = set_of(cores);
	dfb->entry_bytes = entry_bytes;
	dfb->entries = entries;
	program->impl()->dfbs.push_back(dfb);
}

void standin_add_scratchpad(struct standin_program *program, uint64_t size)
{
	program->impl()->scratchpad = size;
}

void standin_add_kernel(struct standin_program *program, const char *name, uint32_t packed)
{
	program->impl()->kernels.push_back(std::make_shared<Kernel>(name, packed));
#if SINCE(100)
	program->impl()->kernels.back()->scratchpad = (uint32_t)program->impl()->scratchpad;
#endif
}

void standin_prepare(struct standin_program *program)
{
	program->impl()->prepare(program->workload->mesh.get());
}

void standin_prepare_on(struct standin_program *program, struct standin_mesh *mesh)
{
	program->impl()->prepare(mesh->mesh.get());
}

void standin_enqueue(struct standin_program *program)
{
	MeshWorkloadImpl &workload = *program->workload;
	MeshWorkload handle{ &workload };
	(void)program->impl(); /* made now, if it is empty */
	if (!workload.operation.empty()) {
#if SINCE(100)
		experimental::inspector::EmitMeshWorkloadDebugEntry(handle, 1, workload.operation, {}, std::nullopt);
#elif SINCE(66)
		experimental::inspector::EmitMeshWorkloadAnnotation(handle, workload.operation, "");
#endif
		GraphTracker::instance().track_program(&*workload.program, workload.mesh.get());
	}
	if (!workload.is_added)
		workload.join_program();
	EnqueueMeshWorkload(workload.mesh->inner->queue, handle, false);
}

uint64_t standin_program_id(const struct standin_program *program)
{
	return program->impl()->get_id();
}

void standin_drop_program(struct standin_program *program)
{
	delete program;
}

uint32_t standin_begin_trace(struct standin_mesh *mesh)
{
#if SINCE(100)
	return *mesh->mesh->begin_mesh_trace(mesh->mesh->inner->queue);
#elif SINCE(64)
	return *mesh->mesh->begin_mesh_trace((uint8_t)0);
#else
	TraceId id = next_trace();
	mesh->mesh->begin_mesh_trace((uint8_t)0, id);
	return *id;
#endif
}

#if SINCE(100)
#define QUEUE(mesh) ((mesh)->mesh->inner->queue)
#else
#define QUEUE(mesh) ((uint8_t)0)
#endif

void standin_end_trace(struct standin_mesh *mesh, uint32_t id)
{
	mesh->mesh->end_mesh_trace(QUEUE(mesh), TraceId(id));
}

void standin_replay_trace(struct standin_mesh *mesh, uint32_t id)
{
	mesh->mesh->replay_mesh_trace(QUEUE(mesh), TraceId(id), true);
}

void standin_release_trace(struct standin_mesh *mesh, uint32_t id)
{
	mesh->mesh->release_mesh_trace(TraceId(id));
}

struct standin_pinned *standin_pin(struct standin_mesh *mesh, void *host, size_t size)
{
#if SINCE(100)
	std::vector<IDevice *> devices;
	for (Device *chip : mesh->mesh->chips())
		devices.push_back(chip);
	return reinterpret_cast<standin_pinned *>(
		new tt::tt_metal::experimental::PinnedMemory(devices, host, size, true));
#else
	(void)mesh, (void)host, (void)size;
	return nullptr;
#endif
}

#if SINCE(100)
using tt::tt_metal::experimental::PinnedMemory;

void standin_unpin(struct standin_pinned *pin)
{
	delete reinterpret_cast<PinnedMemory *>(pin);
}

struct standin_pinned *standin_move_pin(struct standin_pinned *pin)
{
	PinnedMemory *from = reinterpret_cast<PinnedMemory *>(pin), *to = new PinnedMemory(std::move(*from));
	delete from;
	return reinterpret_cast<standin_pinned *>(to);
}

void standin_replace_pin(struct standin_pinned *pin, struct standin_pinned *other)
{
	*reinterpret_cast<PinnedMemory *>(pin) = std::move(*reinterpret_cast<PinnedMemory *>(other));
	standin_unpin(other);
}
#else
void standin_unpin(struct standin_pinned *)
{
}

struct standin_pinned *standin_move_pin(struct standin_pinned *pin)
{
	return pin;
}

void standin_replace_pin(struct standin_pinned *, struct standin_pinned *)
{
}
#endif

void standin_mark(const char *name)
{
	static std::atomic<const char *> last;
	last = name;
}

void standin_track_wild(const void *buffer)
{
	/* The real one would fall over it, too; ours looks at a buffer only where chips have totals in shared memory.
	 */
	GraphTracker::instance().track_allocate_cb(
		*static_cast<const CoreRangeSet *>(buffer), 105664, 4096, false, static_cast<const IDevice *>(buffer));
	GraphTracker::instance().track_deallocate_cb(static_cast<const IDevice *>(buffer));
}

/* An object alone on its pages, which are unmapped when it goes: whoever looks at it later falls over. */
template <typename T, typename... Args> static T *on_own_pages(size_t *length, Args &&...args)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	*length = (sizeof(T) + page - 1) / page * page;
	void *at = mmap(nullptr, *length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		throw std::bad_alloc();
	return new (at) T(std::forward<Args>(args)...);
}

void standin_allocate_and_vanish(struct standin_mesh *mesh)
{
	AllocatorImpl *allocator = mesh->mesh->real_allocator();
	[[maybe_unused]] Device *chip = mesh->mesh->inner->devices.front().get();
	size_t length;
	Buffer *buffer = on_own_pages<Buffer>(
		&length, (IDevice *)mesh->mesh.get(), 2048ul, 2048ul, BufferType::DRAM, nullptr, false);
	allocator->allocate_buffer(buffer);
	munmap(static_cast<void *>(buffer), length);
	/* Calls that name an object which has gone, as a race between threads makes them. */
	GraphTracker::instance().track_deallocate_cb(reinterpret_cast<const IDevice *>(buffer));
#if SINCE(64)
	Inspector::program_compile_finished(reinterpret_cast<const detail::ProgramImpl *>(buffer), chip, 7);
	Inspector::program_destroyed(reinterpret_cast<const detail::ProgramImpl *>(buffer));
#endif
#if SINCE(100)
	Inspector::mesh_buffer_allocated(reinterpret_cast<const MeshBuffer *>(buffer));
	Inspector::mesh_buffer_deallocated(reinterpret_cast<const MeshBuffer *>(buffer));
	chip->register_program(reinterpret_cast<detail::ProgramImpl *>(buffer));
	chip->unregister_program(reinterpret_cast<detail::ProgramImpl *>(buffer));
#endif
	GraphTracker::instance().track_allocate_cb(*reinterpret_cast<const CoreRangeSet *>(buffer), 105664, 4096, false,
		reinterpret_cast<const IDevice *>(buffer));
}

#ifdef STANDIN_NONSENSE
static char mode()
{
	const char *value = getenv("STANDIN_NONSENSE");
	return value ? *value : 'n';
}

/* n: numbers that cannot be; z: nothing but zero; c: something else each time; p: only pointers are wrong */
uint64_t standin_nonsense(uint64_t truth)
{
	static std::atomic<uint64_t> next{ 0x9e3779b97f4a7c15 };
	switch (mode()) {
	case 'n':
		return 0xfffffffffffff123;
	case 'z':
		return 0;
	case 'c':
		return next.fetch_add(0x9e3779b97f4a7c15);
	default:
		return truth;
	}
}

void *standin_nonsense_pointer(const void *truth)
{
	static char page[4096];
	switch (mode()) {
	case 'n':
		return (void *)0xdead000000001237;
	case 'z':
		return nullptr;
	case 'c':
		return page + 1;
	case 'p':
		return (void *)0x10;
	default:
		return const_cast<void *>(truth);
	}
}

/* A std::vector is three pointers. What was in it stays where it was. */
bool standin_nonsense_vector(void *vector)
{
	uintptr_t *words = static_cast<uintptr_t *>(vector);
	switch (mode()) {
	case 'n':
		words[0] = 0xdead000000001238;
		words[1] = words[2] = words[0] + 8;
		break;
	case 'z':
		words[0] = words[1] = words[2] = 0;
		break;
	case 'c':
		words[1] = words[2] = words[0] + ((uintptr_t)1 << 46);
		break;
	case 'p':
		words[0] = 0x18;
		words[1] = words[2] = 0x10;
		break;
	default:
		return false;
	}
	return true;
}
#endif
