constexpr uint32_t shared_bytes = 2048; // of both
