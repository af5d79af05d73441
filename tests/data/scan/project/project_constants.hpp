#pragma once
constexpr uint32_t kShelves = 3;
enum class Shelf : uint8_t { bread = 12, milk };
