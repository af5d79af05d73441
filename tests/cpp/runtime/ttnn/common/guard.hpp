// Stands for the runtime's header: a guard that can be neither copied nor moved.
#pragma once

#include <functional>
#include <utility>

namespace ttnn
{

template <typename Close> class Guard
{
      public:
	Guard(Close &&close) : close_(std::move(close))
	{
	}
	Guard(const Guard &) = delete;
	Guard(Guard &&) = delete;
	Guard &operator=(const Guard &) = delete;
	Guard &operator=(Guard &&) = delete;
	~Guard()
	{
		if (close_)
			close_();
	}
	void release()
	{
		close_ = {};
	}

      private:
	Close close_;
};

using ScopeGuard = Guard<std::function<void()>>;

} // namespace ttnn
