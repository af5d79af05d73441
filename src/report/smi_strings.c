/* The parts of a tt-smi snapshot, with its keys and formats: values are strings, unknown ones are "N/A" or null. */
#include "report/status_report.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT_CAP = 64 };

static const char not_available[] = "N/A";

static void put_or(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_put_text(json, key, text != NULL && text[0] != '\0' ? text : not_available);
}

/* "251.53 GB": powers of 1024, two digits, a blank before the unit. */
static void format_memory(char *dst, size_t cap, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P" };
	double size = (double)bytes;
	size_t unit = 0;
	for (; size >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
		size /= 1024;
	snprintf(dst, cap, "%.2f %sB", size, units[unit]);
}

void tdm_smi_machine(struct tdm_json *json, const struct tdm_machine *machine)
{
	static const struct tdm_machine none = { .memory_bytes = TDM_BYTES_UNKNOWN };
	const struct tdm_machine *m = machine != NULL ? machine : &none;
	char memory[TEXT_CAP] = "", driver[TDM_MACHINE_TEXT_CAP + 8] = "";
	if (m->memory_bytes != TDM_BYTES_UNKNOWN)
		format_memory(memory, sizeof memory, m->memory_bytes);
	if (m->driver[0] != '\0')
		snprintf(driver, sizeof driver, "TT-KMD %s", m->driver);
	tdm_json_put_object(json, "host_info");
	put_or(json, "OS", m->system);
	put_or(json, "Distro", m->distro);
	put_or(json, "Kernel", m->release);
	put_or(json, "Hostname", m->host);
	put_or(json, "Platform", m->machine);
	put_or(json, "Python", NULL);
	put_or(json, "Memory", memory);
	put_or(json, "Driver", driver);
	tdm_json_object_end(json);
}

/* A value of the driver; if unknown, one with an empty text. */
static const struct tdm_host_value *value_of(const struct tdm_host_card *card, enum tdm_host_value_id id)
{
	static const struct tdm_host_value none;
	return card != NULL && card->values[id].state == TDM_HOST_KNOWN ? &card->values[id] : &none;
}

/* A number divided by `parts`, with a width and a number of decimals, padded like tt-smi does. */
struct form {
	double parts;
	int width, digits;
};

static void put_reading(struct tdm_json *json, const char *key, struct tdm_reading reading, struct form form)
{
	char text[TEXT_CAP];
	snprintf(text, sizeof text, "%*.*f", form.width, form.digits, (double)reading.value / form.parts);
	put_or(json, key, reading.is_known ? text : NULL);
}

static void put_limit(struct tdm_json *json, const char *key, const struct tdm_host_value *value, struct form form)
{
	put_reading(json, key, (struct tdm_reading){ value->state == TDM_HOST_KNOWN, 0, value->number }, form);
}

/* null if unknown. */
static void put_hex(struct tdm_json *json, const char *key, bool is_known, uint64_t number)
{
	char text[TEXT_CAP];
	tdm_json_put_text(json, key, is_known ? tdm_format_hex(text, sizeof text, number) : NULL);
}

/* The registers that are plain numbers and that the driver gives too; the others are null. */
static void put_registers(struct tdm_json *json, const struct tdm_host_card *card)
{
	static const struct {
		const char *key;
		enum tdm_host_value_id id;
	} numbers[] = { { "AXICLK", TDM_HOST_AXICLK }, { "ARCCLK", TDM_HOST_ARCCLK }, { "VCORE", TDM_HOST_VOLTAGE },
		{ "FAN_RPM", TDM_HOST_FAN } };
	static const char *const others[] = { "ETH_FW_VERSION", "DDR_STATUS", "FAN_SPEED", "AICLK", "ASIC_TEMPERATURE",
		"VREG_TEMPERATURE", "BOARD_TEMPERATURE", "TDP", "TDC", "VDD_LIMITS", "THM_LIMITS", "TT_FLASH_VERSION" };
	const struct tdm_host_value *serial = value_of(card, TDM_HOST_SERIAL);
	bool has_serial = serial->state == TDM_HOST_KNOWN;
	tdm_json_put_object(json, "smbus_telem");
	put_hex(json, "BOARD_ID", has_serial, serial->id);
	put_hex(json, "BOARD_ID_HIGH", has_serial, serial->id >> 32);
	put_hex(json, "BOARD_ID_LOW", has_serial, serial->id & UINT32_MAX);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		const struct tdm_host_value *value = value_of(card, numbers[i].id);
		put_hex(json, numbers[i].key, value->state == TDM_HOST_KNOWN && value->number >= 0, value->id);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		tdm_json_put_text(json, others[i], NULL);
	tdm_json_object_end(json);
}

/* The generation of a PCIe link from its speed ("16.0 GT/s PCIe"); 0 for any other text. */
static uint64_t pcie_generation(const char *speed)
{
	static const char *const speeds[] = { "2.5 ", "5.0 ", "8.0 ", "16.0 ", "32.0 ", "64.0 " };
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		if (strncmp(speed, speeds[i], strlen(speeds[i])) == 0)
			return i + 1;
	return 0;
}

static void put_board(struct tdm_json *json, const struct tdm_picture_device *device, const struct tdm_host_card *card)
{
	const struct tdm_host_value *serial = value_of(card, TDM_HOST_SERIAL);
	uint64_t generation = pcie_generation(value_of(card, TDM_HOST_LINK_SPEED)->text);
	char board[TEXT_CAP] = "", type[sizeof device->card + 8] = "";
	if (serial->state == TDM_HOST_KNOWN)
		snprintf(board, sizeof board, "%016" PRIx64, serial->id);
	/* tt-smi marks the chip of a Wormhole that is on the bus with "L"; a card of the driver always is. */
	if (device->card[0] != '\0')
		snprintf(type, sizeof type, "%s%s", device->card,
			card != NULL && card->arch == TDM_HOST_WORMHOLE ? " L" : "");
	tdm_json_put_object(json, "board_info");
	put_or(json, "bus_id", device->pci);
	put_or(json, "board_type", type);
	put_or(json, "board_id", board);
	put_or(json, "coords", NULL);
	tdm_json_put_text(json, "dram_status", NULL); /* a boolean there */
	put_or(json, "dram_speed", NULL);
	if (generation != 0)
		tdm_json_put_u64(json, "pcie_speed", generation);
	else
		put_or(json, "pcie_speed", NULL);
	put_or(json, "pcie_width", value_of(card, TDM_HOST_LINK_WIDTH)->text);
	tdm_json_object_end(json);
}

static void put_telemetry(struct tdm_json *json, const struct tdm_picture_telemetry *t)
{
	tdm_json_put_object(json, "telemetry");
	put_reading(json, "voltage", t->voltage, (struct form){ 1e3, 4, 2 });
	put_reading(json, "current", t->current, (struct form){ 1e3, 5, 1 });
	put_reading(json, "power", t->power, (struct form){ 1e6, 5, 1 });
	put_or(json, "board_power", NULL);
	put_reading(json, "aiclk", t->clock, (struct form){ 1, 4, 0 });
	put_reading(json, "asic_temperature", t->temp, (struct form){ 1e3, 4, 1 });
	put_reading(json, "fan_speed", t->fan, (struct form){ 1, 0, 0 });
	put_reading(json, "heartbeat", t->heartbeat, (struct form){ 1, 0, 0 });
	tdm_json_object_end(json);
}

static void put_firmwares(struct tdm_json *json, const struct tdm_host_card *card)
{
	tdm_json_put_object(json, "firmwares");
	put_or(json, "fw_bundle_version", value_of(card, TDM_HOST_FW_BUNDLE)->text);
	put_or(json, "tt_flash_version", value_of(card, TDM_HOST_FW_TTFLASH)->text);
	put_or(json, "cm_fw", value_of(card, TDM_HOST_FW_ARC)->text);
	put_or(json, "cm_fw_date", NULL);
	put_or(json, "eth_fw", value_of(card, TDM_HOST_FW_ETH)->text);
	put_or(json, "dm_bl_fw", value_of(card, TDM_HOST_FW_M3BL)->text);
	put_or(json, "dm_app_fw", value_of(card, TDM_HOST_FW_M3APP)->text);
	put_or(json, "gddr_fw", NULL);
	tdm_json_object_end(json);
}

static void put_limits(struct tdm_json *json, const struct tdm_host_card *card)
{
	tdm_json_put_object(json, "limits");
	put_or(json, "vdd_min", NULL);
	put_limit(json, "vdd_max", value_of(card, TDM_HOST_VOLTAGE_MAX), (struct form){ 1e3, 4, 2 });
	put_limit(json, "tdp_limit", value_of(card, TDM_HOST_POWER_MAX), (struct form){ 1e6, 3, 0 });
	put_limit(json, "tdc_limit", value_of(card, TDM_HOST_CURRENT_MAX), (struct form){ 1e3, 3, 0 });
	put_or(json, "asic_fmax", NULL);
	put_or(json, "therm_trip_l1_limit", NULL);
	put_limit(json, "thm_limit", value_of(card, TDM_HOST_TEMP_MAX), (struct form){ 1e3, 2, 0 });
	put_or(json, "bus_peak_limit", NULL);
	put_or(json, "fan_rpm_limit", NULL);
	put_or(json, "board_power_limit", NULL);
	tdm_json_object_end(json);
}

void tdm_smi_device(struct tdm_json *json, const struct tdm_picture_device *device, const struct tdm_host_card *card)
{
	put_registers(json, card);
	put_board(json, device, card);
	put_telemetry(json, &device->telemetry);
	put_firmwares(json, card);
	put_limits(json, card);
}
