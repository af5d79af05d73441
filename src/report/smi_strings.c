#include "report/smi_strings.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT_CAP = 64 };

static const char not_available[] = "N/A";

static void put_or(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_put_text(json, key, text[0] != '\0' ? text : not_available);
}

/* "251.53 GB": powers of 1024, two digits, a blank before the unit. */
static void format_memory(char *dst, size_t cap, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P" };
	double size = (double)bytes;
	size_t unit = 0;
	while (size >= 1024 && unit + 1 < sizeof units / sizeof *units) {
		size /= 1024;
		unit++;
	}
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
	tdm_json_put_text(json, "Python", not_available);
	put_or(json, "Memory", memory);
	put_or(json, "Driver", driver);
	tdm_json_object_end(json);
}

/* A value of the driver; NULL when it is not known. */
static const struct tdm_host_value *value_of(const struct tdm_host_card *card, enum tdm_host_value_id id)
{
	return card != NULL && card->values[id].state == TDM_HOST_KNOWN ? &card->values[id] : NULL;
}

static void put_firmware(
	struct tdm_json *json, const char *key, const struct tdm_host_card *card, enum tdm_host_value_id id)
{
	const struct tdm_host_value *value = value_of(card, id);
	tdm_json_put_text(json, key, value != NULL ? value->text : not_available);
}

/* Over `parts`, with a width and so many digits, as tt-smi pads its numbers. */
static void put_scaled(struct tdm_json *json, const char *key, double value, double parts, int width, int digits)
{
	char text[TEXT_CAP];
	snprintf(text, sizeof text, "%*.*f", width, digits, value / parts);
	tdm_json_put_text(json, key, text);
}

static void put_reading(
	struct tdm_json *json, const char *key, struct tdm_reading reading, double parts, int width, int digits)
{
	if (reading.is_known)
		put_scaled(json, key, (double)reading.value, parts, width, digits);
	else
		tdm_json_put_text(json, key, not_available);
}

static void put_limit(
	struct tdm_json *json, const char *key, const struct tdm_host_value *value, double parts, int width, int digits)
{
	if (value != NULL)
		put_scaled(json, key, (double)value->number, parts, width, digits);
	else
		tdm_json_put_text(json, key, not_available);
}

static void put_hex(struct tdm_json *json, const char *key, bool is_known, uint64_t number)
{
	char text[TEXT_CAP];
	snprintf(text, sizeof text, "0x%" PRIx64, number);
	tdm_json_put_text(json, key, is_known ? text : NULL);
}

static void put_hex_value(
	struct tdm_json *json, const char *key, const struct tdm_host_card *card, enum tdm_host_value_id id)
{
	const struct tdm_host_value *value = value_of(card, id);
	put_hex(json, key, value != NULL && value->number >= 0, value != NULL ? (uint64_t)value->number : 0);
}

/* The registers whose contents are plain numbers that the driver also gives; the others are null. */
static void put_registers(struct tdm_json *json, const struct tdm_host_card *card)
{
	static const char *const others[] = { "ETH_FW_VERSION", "DDR_STATUS", "FAN_SPEED", "AICLK", "ASIC_TEMPERATURE",
		"VREG_TEMPERATURE", "BOARD_TEMPERATURE", "TDP", "TDC", "VDD_LIMITS", "THM_LIMITS", "TT_FLASH_VERSION" };
	const struct tdm_host_value *serial = value_of(card, TDM_HOST_SERIAL);
	uint64_t board = serial != NULL ? serial->id : 0;
	tdm_json_put_object(json, "smbus_telem");
	put_hex(json, "BOARD_ID", serial != NULL, board);
	put_hex(json, "BOARD_ID_HIGH", serial != NULL, board >> 32);
	put_hex(json, "BOARD_ID_LOW", serial != NULL, board & UINT32_MAX);
	put_hex_value(json, "AXICLK", card, TDM_HOST_AXICLK);
	put_hex_value(json, "ARCCLK", card, TDM_HOST_ARCCLK);
	put_hex_value(json, "VCORE", card, TDM_HOST_VOLTAGE);
	put_hex_value(json, "FAN_RPM", card, TDM_HOST_FAN);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		tdm_json_put_text(json, others[i], NULL);
	tdm_json_object_end(json);
}

/* tt-smi says of a Wormhole whether it is the chip on the bus, which a card of the driver always is. */
static void put_board_type(
	struct tdm_json *json, const struct tdm_picture_device *device, const struct tdm_host_card *card)
{
	const char *name = device->card;
	char text[sizeof device->card + 8];
	if (name[0] == '\0')
		snprintf(text, sizeof text, "%s", not_available);
	else
		snprintf(text, sizeof text, "%s%s", name, card != NULL && card->arch == TDM_HOST_WORMHOLE ? " L" : "");
	tdm_json_put_text(json, "board_type", text);
}

/* The generation of the PCIe link that "16.0 GT/s PCIe" is; 0 for any other text. */
static int pcie_generation(const char *speed)
{
	static const char *const speeds[] = { "2.5 ", "5.0 ", "8.0 ", "16.0 ", "32.0 ", "64.0 " };
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		if (strncmp(speed, speeds[i], strlen(speeds[i])) == 0)
			return (int)i + 1;
	return 0;
}

static void put_link(struct tdm_json *json, const struct tdm_host_card *card)
{
	const struct tdm_host_value *speed = value_of(card, TDM_HOST_LINK_SPEED);
	const struct tdm_host_value *width = value_of(card, TDM_HOST_LINK_WIDTH);
	int generation = speed != NULL ? pcie_generation(speed->text) : 0;
	tdm_json_key(json, "pcie_speed");
	if (generation != 0)
		tdm_json_i64(json, generation);
	else
		tdm_json_text(json, not_available);
	tdm_json_put_text(json, "pcie_width", width != NULL ? width->text : not_available);
}

static void put_board(struct tdm_json *json, const struct tdm_picture_device *device, const struct tdm_host_card *card)
{
	const struct tdm_host_value *serial = value_of(card, TDM_HOST_SERIAL);
	char board[TEXT_CAP] = "";
	if (serial != NULL)
		snprintf(board, sizeof board, "%016" PRIx64, serial->id);
	tdm_json_put_object(json, "board_info");
	put_or(json, "bus_id", device->pci);
	put_board_type(json, device, card);
	put_or(json, "board_id", board);
	tdm_json_put_text(json, "coords", not_available);
	tdm_json_key(json, "dram_status"); /* a boolean there */
	tdm_json_null(json);
	tdm_json_put_text(json, "dram_speed", not_available);
	put_link(json, card);
	tdm_json_object_end(json);
}

static void put_telemetry(struct tdm_json *json, const struct tdm_picture_telemetry *t)
{
	tdm_json_put_object(json, "telemetry");
	put_reading(json, "voltage", t->voltage, 1e3, 4, 2);
	put_reading(json, "current", t->current, 1e3, 5, 1);
	put_reading(json, "power", t->power, 1e6, 5, 1);
	tdm_json_put_text(json, "board_power", not_available);
	put_reading(json, "aiclk", t->clock, 1, 4, 0);
	put_reading(json, "asic_temperature", t->temp, 1e3, 4, 1);
	put_reading(json, "fan_speed", t->fan, 1, 0, 0);
	put_reading(json, "heartbeat", t->heartbeat, 1, 0, 0);
	tdm_json_object_end(json);
}

static void put_firmwares(struct tdm_json *json, const struct tdm_host_card *card)
{
	tdm_json_put_object(json, "firmwares");
	put_firmware(json, "fw_bundle_version", card, TDM_HOST_FW_BUNDLE);
	put_firmware(json, "tt_flash_version", card, TDM_HOST_FW_TTFLASH);
	put_firmware(json, "cm_fw", card, TDM_HOST_FW_ARC);
	tdm_json_put_text(json, "cm_fw_date", not_available);
	put_firmware(json, "eth_fw", card, TDM_HOST_FW_ETH);
	put_firmware(json, "dm_bl_fw", card, TDM_HOST_FW_M3BL);
	put_firmware(json, "dm_app_fw", card, TDM_HOST_FW_M3APP);
	tdm_json_put_text(json, "gddr_fw", not_available);
	tdm_json_object_end(json);
}

static void put_limits(struct tdm_json *json, const struct tdm_host_card *card)
{
	tdm_json_put_object(json, "limits");
	tdm_json_put_text(json, "vdd_min", not_available);
	put_limit(json, "vdd_max", value_of(card, TDM_HOST_VOLTAGE_MAX), 1e3, 4, 2);
	put_limit(json, "tdp_limit", value_of(card, TDM_HOST_POWER_MAX), 1e6, 3, 0);
	put_limit(json, "tdc_limit", value_of(card, TDM_HOST_CURRENT_MAX), 1e3, 3, 0);
	tdm_json_put_text(json, "asic_fmax", not_available);
	tdm_json_put_text(json, "therm_trip_l1_limit", not_available);
	put_limit(json, "thm_limit", value_of(card, TDM_HOST_TEMP_MAX), 1e3, 2, 0);
	tdm_json_put_text(json, "bus_peak_limit", not_available);
	tdm_json_put_text(json, "fan_rpm_limit", not_available);
	tdm_json_put_text(json, "board_power_limit", not_available);
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
