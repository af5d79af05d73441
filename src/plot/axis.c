#include "plot/axis.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale {
	double from; /* the smallest value it is used for */
	double divisor;
	const char *unit;
};

static const struct scale byte_scales[] = {
	{ 0x1p60, 0x1p60, "EiB" },
	{ 0x1p50, 0x1p50, "PiB" },
	{ 0x1p40, 0x1p40, "TiB" },
	{ 0x1p30, 0x1p30, "GiB" },
	{ 0x1p20, 0x1p20, "MiB" },
	{ 0x1p10, 0x1p10, "KiB" },
	{ 0, 1, "B" },
};
static const struct scale mib_scales[] = { { 0, 0x1p20, "MiB" } };
static const struct scale second_scales[] = {
	{ 7200, 3600, "h" },
	{ 120, 60, "min" },
	{ 1, 1, "s" },
	{ 1e-3, 1e-3, "ms" },
	{ 1e-6, 1e-6, "\xc2\xb5s" },
	{ 0, 1e-9, "ns" },
};
static const struct scale number_scales[] = { { 1e9, 1e9, "G" }, { 1e6, 1e6, "M" }, { 1e4, 1e3, "k" }, { 0, 1, "" } };
static const struct scale percent_scales[] = { { 0, 0.01, "%" } };

static const struct scale *scales[] = {
	[TDM_PLOT_NUMBER] = number_scales,
	[TDM_PLOT_BYTES] = byte_scales,
	[TDM_PLOT_MIB] = mib_scales,
	[TDM_PLOT_SECONDS] = second_scales,
	[TDM_PLOT_PERCENT] = percent_scales,
};

static const struct scale *scale_of(enum tdm_plot_unit unit, double value)
{
	const struct scale *scale = scales[unit];
	while (fabs(value) < scale->from)
		scale++;
	return scale;
}

static double round_step(double rough)
{
	double power = pow(10, floor(log10(rough)));
	double lead = rough / power;
	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static int decimals_of(double step)
{
	int decimals = 0;
	while (decimals < 6 && fabs(step - round(step)) > 1e-9 * step) {
		step *= 10;
		decimals++;
	}
	return decimals;
}

static void make_finite(double *from, double *to)
{
	*from = isfinite(*from) ? *from : 0;
	*to = isfinite(*to) ? *to : 0;
	if (*to <= *from)
		*to = *from + 1;
}

struct tdm_axis tdm_axis_make(double from, double to, enum tdm_plot_unit unit, size_t ticks)
{
	make_finite(&from, &to);
	const struct scale *scale = scale_of(unit, fmax(fabs(from), fabs(to)));
	ticks = ticks < 2 ? 2 : ticks > TDM_AXIS_TICKS_MAX / 2 ? TDM_AXIS_TICKS_MAX / 2 : ticks;
	double step = round_step((to - from) / scale->divisor / (double)ticks);
	if ((unit == TDM_PLOT_BYTES || unit == TDM_PLOT_NUMBER) && scale->divisor == 1 && step < 1)
		step = 1; /* bytes have no fractions */
	double first = floor(from / scale->divisor / step + 1e-9), last = ceil(to / scale->divisor / step - 1e-9);
	return (struct tdm_axis){
		.from = first * step * scale->divisor,
		.to = last * step * scale->divisor,
		.step = step * scale->divisor,
		.count = (size_t)(last - first) + 1,
		.divisor = scale->divisor,
		.unit = scale->unit,
		.decimals = decimals_of(step),
		.commas = unit == TDM_PLOT_MIB,
	};
}

struct tdm_axis tdm_axis_address(double from, double to, size_t ticks)
{
	make_finite(&from, &to);
	double step = exp2(ceil(log2(fmax((to - from) / (double)(ticks < 2 ? 2 : ticks), 1))));
	const struct scale *scale = scale_of(TDM_PLOT_BYTES, fmax(to / 4, step));
	double first = ceil(from / step), last = floor(to / step);
	return (struct tdm_axis){
		.from = from,
		.to = to,
		.step = step,
		.count = last < first ? 0 : (size_t)(last - first) + 1,
		.divisor = scale->divisor,
		.unit = scale->unit,
		.decimals = decimals_of(step / scale->divisor),
	};
}

/* A whole number with thousands separators. */
static void put_commas(double number, char *dst, size_t cap)
{
	char digits[TDM_AXIS_LABEL_CAP];
	snprintf(dst, cap, "%s%s", number < 0 ? "-" : "",
		tdm_format_count(digits, sizeof digits, (uint64_t)fmin(fabs(number), 0x1p62)));
}

char *tdm_axis_label(const struct tdm_axis *axis, double value, char *dst, size_t cap)
{
	if (fabs(value) < axis->step * 1e-9)
		snprintf(dst, cap, "0");
	else {
		char digits[TDM_AXIS_LABEL_CAP];
		if (axis->commas && axis->decimals == 0)
			put_commas(round(value / axis->divisor), digits, sizeof digits);
		else
			snprintf(digits, sizeof digits, "%.*f", axis->decimals, value / axis->divisor);
		snprintf(dst, cap, "%s%s%s", digits, axis->unit[0] != '\0' ? " " : "", axis->unit);
	}
	return dst;
}

char *tdm_plot_value(enum tdm_plot_unit unit, double value, char *dst, size_t cap)
{
	if (!isfinite(value)) {
		snprintf(dst, cap, "unknown");
		return dst;
	}
	const struct scale *scale = scale_of(unit, value);
	double shown = value / scale->divisor;
	int decimals = fabs(shown) < 9.995 ? 2 : fabs(shown) < 99.95 ? 1 : 0;
	char digits[TDM_AXIS_LABEL_CAP];
	int len = snprintf(digits, sizeof digits, "%.*f", decimals, shown);
	if (len < 0 || (size_t)len >= sizeof digits)
		snprintf(digits, sizeof digits, "%.3g", shown);
	else if (decimals != 0)
		while (digits[len - 1] == '0' || digits[len - 1] == '.') {
			bool point = digits[len - 1] == '.';
			digits[--len] = '\0';
			if (point)
				break;
		}
	if (unit == TDM_PLOT_MIB && decimals == 0)
		put_commas(round(shown), digits, sizeof digits);
	snprintf(dst, cap, "%s%s%s", digits, scale->unit[0] != '\0' ? " " : "", scale->unit);
	return dst;
}
