/* Compiled kernels for `tidemark info`: one file, or a folder of the runtime's cache. */
#include "base/err.h"
#include "cli/info_format.h"
#include "cli/info_ring.h"
#include "cli/info_warn.h"
#include "report/report_kernels.h"

#include <sys/stat.h>

static bool kernels_detect(const char *head, size_t len, const char *path)
{
	(void)path;
	return tdm_kernel_elf_detect(head, len);
}

static int read_kernels(const struct tdm_info_request *request, struct tdm_kernel_cache *cache,
	struct tdm_info_warnings *warnings, struct tdm_diag *diag)
{
	struct stat st;
	if (fstat(request->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		int err = tdm_kernel_cache_walk(cache, request->path, tdm_info_warn, warnings);
		return err != 0 ? tdm_diag_set(diag, err, 0, 0, "out of memory") : 0;
	}
	return tdm_kernel_cache_add(cache, request->fd, request->bytes, request->path, diag);
}

static int kernels_run(const struct tdm_info_request *request)
{
	struct tdm_info_warnings warnings = { .path = request->path };
	struct tdm_kernel_cache cache;
	struct tdm_diag diag = { .file = request->path };
	tdm_kernel_cache_init(&cache);
	int err = read_kernels(request, &cache, &warnings, &diag);
	if (err == 0 && cache.count == 0 && warnings.count == 0)
		err = tdm_diag_set(&diag, TDM_ENOTFOUND, 0, 0, "no compiled kernels here (TARGET/TARGET.elf)");
	tdm_kernel_cache_sort(&cache);
	struct tdm_kernels_view view = {
		.file = { request->path, err != 0, request->limit, request->term },
		.cache = &cache,
		.ring_bytes = tdm_info_ring_bytes(),
		.ring_from = "default of Wormhole and Blackhole",
	};
	if (request->json != NULL)
		tdm_kernels_view_json(&view, request->json);
	else if (cache.count != 0)
		tdm_kernels_view_text(&view, request->out);
	tdm_kernel_cache_done(&cache);
	return tdm_info_warn_end(&warnings, err, &diag);
}

const struct tdm_info_format tdm_info_kernels = {
	.name = "kernels",
	.summary = "compiled kernel",
	.takes_folders = true,
	.detect = kernels_detect,
	.run = kernels_run,
};
