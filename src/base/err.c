#include "base/err.h"

#include <string.h>

const char *tdm_err_text(int err)
{
	switch (err) {
	case TDM_OK:
		return "no error";
#define X(id, number, text) \
	case TDM_E##id:     \
		return text;
		TDM_ERR_LIST(X)
#undef X
	default:
		break;
	}
	if (err < 0 && err > -TDM_ERR_FIRST) {
		const char *text = strerrordesc_np(-err);
		return text != NULL ? text : "unknown system error";
	}
	return "unknown error";
}
