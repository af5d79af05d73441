// Stands for the runtime's header: the modes of a capture.
#pragma once

namespace tt::tt_metal
{

class IGraphProcessor
{
      public:
	enum class RunMode { NORMAL, NO_DISPATCH };
	virtual ~IGraphProcessor() = default;
};

} // namespace tt::tt_metal
