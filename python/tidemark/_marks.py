"""What runs: names of programs and phases, as calls, with statements and decorators.

The object of a plain call marks when it is dropped, which CPython does at the end of the statement. It cannot mark when it is
made: a decorator is made when a module is imported, long before the function runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, ClassVar, TypeVar, cast

from . import _library

F = TypeVar("F", bound=Callable[..., Any])


class _Mark:
    """A name that begins now, or that lasts for a with statement or for each call of a function.

    The names of the with statements around are kept for each thread and each asyncio task."""

    _names: ClassVar[ContextVar[tuple[str | None, ...]]]

    def __init__(self, name: str | None) -> None:
        self.name = name
        self._code: int | None = None
        self._is_used = False

    @staticmethod
    def _set(name: str | None) -> int:
        raise NotImplementedError

    def _restore(self, names: tuple[str | None, ...]) -> None:
        raise NotImplementedError

    def _mark(self) -> int:
        self._is_used = True
        self._code = self._set(self.name)
        return self._code

    @property
    def code(self) -> int:
        """0, or the negative code of the library."""
        return self._code if self._code is not None else self._mark()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, code={self.code})"

    def __del__(self) -> None:
        if not getattr(self, "_is_used", True) and _library is not None:  # gone when the interpreter ends
            self._mark()

    def __enter__(self: M) -> M:
        self._mark()
        self._names.set((*self._names.get(), self.name))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        names = list(self._names.get())
        if self.name in names:  # a generator may end in another task than it began in
            del names[len(names) - 1 - names[::-1].index(self.name)]
        self._names.set(tuple(names))
        self._restore(tuple(names))

    def __call__(self, function: F) -> F:
        """Decorates a function. A generator has the name while it runs, not while it waits at a yield."""
        self._is_used = True
        if isinstance(function, (staticmethod, classmethod)):
            return cast(F, type(function)(self(function.__func__)))
        if inspect.isclass(function):
            raise TypeError(f"{type(self).__name__} decorates functions, not classes")
        for test, wrap in ((inspect.isasyncgenfunction, self._around_async_generator),
                           (inspect.iscoroutinefunction, self._around_coroutine),
                           (inspect.isgeneratorfunction, self._around_generator), (callable, self._around_call)):
            if test(function):
                return cast(F, functools.wraps(function)(wrap(function)))
        raise TypeError(f"{type(self).__name__} decorates functions, not {type(function).__name__}")

    def _around_call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)
        return call

    def _around_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return await function(*args, **kwargs)
        return call

    def _around_generator(self, function: Callable[..., Generator[Any, Any, Any]]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            inner = function(*args, **kwargs)
            step: Callable[[], Any] = functools.partial(next, inner)
            while True:
                try:
                    with self:
                        value = step()
                except StopIteration as end:
                    return end.value
                try:
                    sent = yield value
                except GeneratorExit:
                    with self:
                        inner.close()
                    raise
                except BaseException as error:
                    step = functools.partial(inner.throw, error)
                else:
                    step = functools.partial(inner.send, sent)
        return call

    def _around_async_generator(self, function: Callable[..., AsyncGenerator[Any, Any]]) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
            inner = function(*args, **kwargs)
            step: Any = inner.__anext__()
            while True:
                try:
                    with self:
                        value = await step
                except StopAsyncIteration:
                    return
                try:
                    sent = yield value
                except GeneratorExit:
                    with self:
                        await inner.aclose()
                    raise
                except BaseException as error:
                    step = inner.athrow(error)
                else:
                    step = inner.asend(sent)
        return call


M = TypeVar("M", bound=_Mark)


class program(_Mark):
    """Names the program or operation that this thread runs from now on; None: none.

    At the end of a with statement or of a decorated function, the enclosing name is restored."""

    _names = ContextVar("tidemark.programs", default=())

    @staticmethod
    def _set(name: str | None) -> int:
        return _library.call("tidemark_program", _library.encode(name) if name else None)

    def _restore(self, names: tuple[str | None, ...]) -> None:
        self._set(names[-1] if names else None)


class phase(_Mark):
    """Marks the beginning of a phase, which lasts until the next mark.

    At the end of a nested with statement or decorated function, the enclosing phase is marked again."""

    _names = ContextVar("tidemark.phases", default=())

    def __init__(self, name: str) -> None:
        super().__init__(name)

    @staticmethod
    def _set(name: str | None) -> int:
        return _library.call("tidemark_phase", _library.encode(name or ""))

    def _restore(self, names: tuple[str | None, ...]) -> None:
        if names:
            self._set(names[-1])
