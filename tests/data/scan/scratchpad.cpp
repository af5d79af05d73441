// Scratchpads count too.
const ScratchpadSpecName WORK{ "work" };

ProgramArtifacts create(uint32_t rows)
{
	ScratchpadSpec work{ .unique_id = WORK, .size_per_node = 3 * 1024 };
	Group<ScratchpadSpec> scratchpads = { work,
		ScratchpadSpec{ .unique_id = ScratchpadSpecName{ "rows" }, .size_per_node = rows * 32 } };
	return { .spec = { .scratchpads = scratchpads } };
}
