/* Entering and leaving a device: by its owner without a lock, by other threads with one (writer.h). */
#include "ledger/writer_hot.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The thread sanitizer does not know the barrier, so its builds have no owners. */
bool tdm_writer_register_barrier(void)
{
#if defined(__SANITIZE_THREAD__)
	return false;
#else
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0;
#endif
}

struct tdm_wthread *tdm_writer_thread(struct tdm_writer *writer)
{
	uint32_t at = atomic_fetch_add(&writer->thread_count, 1);
	if (at < writer->thread_cap && writer->threads != NULL) {
		writer->threads[at].thread = tdm_lock_me();
		return &writer->threads[at];
	}
	atomic_store(&writer->thread_count, writer->thread_cap);
	return NULL;
}

static bool is_inside(const struct tdm_wthread *owner, const struct tdm_wdevice *device)
{
	return atomic_load_explicit(&owner->inside, memory_order_acquire) == (uintptr_t)device;
}

static bool has_ended_inside(struct tdm_wdevice *device, const struct tdm_wthread *owner)
{
	if (!tdm_thread_has_ended(owner->thread) || !is_inside(owner, device))
		return false;
	atomic_store_explicit(&device->is_torn, true, memory_order_relaxed);
	return true;
}

/* Revokes the owner. After the barrier, either we see it inside, or it will see that it is no longer the owner. */
static bool put_owner_out(struct tdm_wdevice *device)
{
	struct tdm_wthread *owner = atomic_exchange(&device->owner, NULL);
	if (owner == NULL)
		return true;
	bool is_out = false;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0) {
		struct tdm_wait wait = { .is_hopeless = device->is_hopeless };
		is_out = !is_inside(owner, device) || has_ended_inside(device, owner);
		while (!is_out && tdm_wait_more(&wait))
			is_out = !is_inside(owner, device) ||
				 (tdm_wait_is_long(&wait) && has_ended_inside(device, owner));
		is_out = is_out || has_ended_inside(device, owner);
	}
	device->is_hopeless = !is_out;
	if (!is_out) {
		atomic_store(&device->owner, owner); /* it may leave later; nobody must enter before */
		return false;
	}
	device->revocations++;
	device->streak = 0;
	return true;
}

/* Whether the last thread has entered often enough in a row to be the owner; each revocation raises that number. */
static bool may_own(const struct tdm_wdevice *device)
{
	static const uint32_t streaks[] = { 0, 256, 4096 };
	return device->writer->can_own && device->revocations < sizeof streaks / sizeof *streaks &&
	       device->streak >= streaks[device->revocations];
}

/*
 * Makes a device fit to be entered; the caller has its lock. Guarded, because nobody else would wait for an owner that
 * is revoked already, and because a repair takes longer than the time between the jumps of some programs. A signal that
 * arrives meanwhile may jump out at the end, when there is nothing to repair.
 */
static bool make_fit(struct tdm_wdevice *device)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	bool is_fit = put_owner_out(device) && (!device->is_torn || tdm_wdevice_repair(device) == 0);
	atomic_store_explicit(&device->is_untouched, is_fit, memory_order_relaxed);
	tdm_quiet_end(&guard);
	return is_fit;
}

/* What the last holder of the lock has left, which did not give it back. */
static void take_broken(struct tdm_wdevice *device)
{
	if (!atomic_exchange_explicit(&device->lock.is_broken, false, memory_order_relaxed))
		return;
	if (atomic_load_explicit(&device->is_untouched, memory_order_relaxed))
		tdm_writer_lost(device->writer, TDM_LOSS_NESTED);
	else
		atomic_store_explicit(&device->is_torn, true, memory_order_relaxed);
}

enum tdm_entered tdm_wdevice_enter_slow(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	if (self != NULL)
		atomic_store_explicit(&self->inside, (uintptr_t)device | TDM_BY_LOCK, memory_order_release);
	bool locked = tdm_lock_take(&device->lock);
	if (locked)
		take_broken(device);
	if (!locked || ((device->is_torn || atomic_load(&device->owner) != NULL) && !make_fit(device))) {
		if (locked)
			tdm_lock_give(&device->lock);
		if (self != NULL)
			atomic_store_explicit(&self->inside, 0, memory_order_release);
		return TDM_NOT_ENTERED;
	}
	atomic_store_explicit(&device->is_untouched, false, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst); /* before anything changes */
	device->streak = device->last == self ? device->streak + 1 : 0;
	device->last = self;
	if (self != NULL && may_own(device))
		atomic_store_explicit(&device->owner, self, memory_order_release); /* from its next report on */
	return TDM_WITH_LOCK;
}

void tdm_wdevice_leave_slow(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	tdm_lock_give(&device->lock);
	if (self != NULL)
		atomic_store_explicit(&self->inside, 0, memory_order_release);
}

/* Not the owner any more, so that its next report finds the device torn. */
static void disown(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	struct tdm_wthread *owner = self;
	atomic_compare_exchange_strong(&device->owner, &owner, NULL);
}

bool tdm_writer_abandon(struct tdm_writer *writer, struct tdm_wthread *self)
{
	bool is_torn = false;
	uintptr_t at = self != NULL ? atomic_load_explicit(&self->inside, memory_order_relaxed) : 0;
	struct tdm_wdevice *torn = (struct tdm_wdevice *)(at & ~(uintptr_t)TDM_BY_LOCK), *device;
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && (device = tdm_writer_get_device(writer, i)) != NULL; i++) {
		if (tdm_lock_is_mine(&device->lock))
			disown(device, self); /* it became the owner while it had the lock */
		is_torn |= tdm_lock_abandon(&device->lock);
	}
	tdm_lock_abandon(&writer->blobs.lock);
	if (at == 0)
		return is_torn;
	if (at % 2 == 0)
		atomic_store_explicit(&torn->is_torn, true, memory_order_relaxed);
	atomic_store_explicit(&self->inside, 0, memory_order_release);
	if (at % 2 != 0)
		return is_torn;
	/* With the lock, because another thread that waited for us may give the device back to us. */
	bool locked = tdm_lock_take(&torn->lock);
	disown(torn, self);
	if (locked)
		tdm_lock_give(&torn->lock);
	return true;
}
