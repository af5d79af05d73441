/*
 * A stand-in for tt-metal's host library, for tests: classes whose members have the same mangled names, the same
 * layout where a hook may look, and the same order of calls, over a simple allocator that really gives addresses. No
 * device is needed, and nothing is computed. Names and arguments are those of tt-metal's declarations, because the
 * symbols come from them; the code is our own.
 *
 * STANDIN is the release that it looks like: 57, 64, 66, or 100 for today's. What differs is in these headers.
 */
#ifndef STANDIN_RUNTIME_HPP
#define STANDIN_RUNTIME_HPP

#include "devices.hpp"
#include "workloads.hpp"
#include "told.hpp"

#endif
