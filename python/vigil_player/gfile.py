"""What TensorFlow's Python changes of files, for a hook that is watched: put between it and its C++.

Installed by the import.
"""

from tensorflow.python.lib.io import file_io
from tensorflow.python.summary.writer import event_file_writer

from .machine import for_tensorflow


class Told:
    """Stands for a module of C++, of which some calls are told."""

    def __init__(self, module, **told):
        self._module = module
        for name, tell in told.items():
            setattr(self, name, self._told(getattr(module, name), tell))

    @staticmethod
    def _told(inner, tell):
        def call(*args, **kwargs):
            tell(*args)
            return inner(*args, **kwargs)

        return call

    def __getattr__(self, name):
        return getattr(self._module, name)


def changes(path, *_more):
    if watch := for_tensorflow():
        watch.changes(path)


def makes(path, *_more):
    if watch := for_tensorflow():
        watch.makes(path)


def renames(old, new, *_more):
    changes(old)
    changes(new)


def copies(_old, new, *_more):
    changes(new)


file_io._pywrap_file_io = Told(
    file_io._pywrap_file_io, CreateDir=makes, RecursivelyCreateDir=makes, DeleteFile=changes,
    DeleteRecursively=changes, RenameFile=renames, CopyFile=copies, WritableFile=changes)
event_file_writer._pywrap_events_writer = Told(event_file_writer._pywrap_events_writer, EventsWriter=changes)
