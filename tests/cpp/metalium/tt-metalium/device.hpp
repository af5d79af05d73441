// Stands for the header of tt-metalium with this name.
#pragma once

#include "../fake_metalium.hpp"
