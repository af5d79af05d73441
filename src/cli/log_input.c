#include "cli/log_input.h"

void tdm_log_input_end(const struct tdm_log_reader *reader, struct tdm_log_file *file)
{
	file->lines = tdm_log_scan_lines(&reader->scan);
	file->bytes = tdm_log_scan_offset(&reader->scan);
	file->cut_lines = reader->scan.cut_lines;
	file->refused_lines = reader->refused_lines;
	file->is_cut = reader->has_failed;
	file->sample_lines = reader->sample.lines;
	file->logger_lines = reader->sample.logger_lines;
	file->debug_lines = reader->sample.debug_lines;
	file->is_binary = reader->sample.is_binary;
}
