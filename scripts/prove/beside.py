"""PTX of images that have none: what compilers keep beside a cubin, and what folders have that the user names. Files are read
only, and no symbolic link below a folder is followed."""
import filecmp
import functools
import getpass
import hashlib
import itertools
import os
import re
import tempfile

MOST_FILES = 200000  # entries of one folder and what is below it
MOST_BYTES = 1 << 30  # of the .ptx that are looked through for names
MOST_TEXT = 64 << 20


def _compilers_folders():
    """Where Triton and inductor keep what they compile. In /tmp a folder may be another user's."""
    yield os.environ.get("TRITON_CACHE_DIR") or os.path.expanduser("~/.triton/cache")
    inductor = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    try:
        inductor = inductor or os.path.join(tempfile.gettempdir(), "torchinductor_" + re.sub(r'[\\/:*?"<>|]', "_", getpass.getuser()))
        if os.stat(inductor).st_uid == os.geteuid():
            yield os.path.join(inductor, "triton")
    except (KeyError, OSError):
        pass


def _files(folder):
    """Paths of the files there and below."""
    folders, left = [folder], MOST_FILES
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for one in entries:
                    left -= 1
                    if left < 0:
                        return
                    if one.is_dir(follow_symlinks=False):
                        folders.append(one.path)
                    elif one.is_file(follow_symlinks=False):
                        yield one.path
        except OSError:
            continue


class Beside:
    """folders: those that the user names."""

    def __init__(self, folders):
        self.named = folders
        self.texts = {}  # how many .ptx each of them has, as of_kernel() looks

    def prepare(self):
        """Look once, before several processes ask."""
        return self._cubins, self._kernels

    @functools.cached_property
    def _cubins(self):
        """{size: [path]} of those that have a .ptx of the same name beside them."""
        found = {}
        for folder in dict.fromkeys([*self.named, *_compilers_folders()]):
            paths = set(_files(folder))
            for path in sorted(paths):
                if path.endswith(".cubin") and path[:-len("cubin")] + "ptx" in paths:
                    found.setdefault(os.path.getsize(path), []).append(path)
        return found

    @functools.cached_property
    def _kernels(self):
        """{name of a kernel: {digest: path}} of the .ptx in the folders that the user names."""
        found, left = {}, MOST_BYTES
        paths = {folder: sorted(path for path in _files(folder) if path.endswith(".ptx")) for folder in self.named}
        self.texts = {folder: len(of_folder) for folder, of_folder in paths.items()}
        for path in itertools.chain(*paths.values()):
            data = _contents(path)
            left -= len(data)
            if left < 0:
                break
            for name in re.findall(rb"\.entry\s+([\w$]+)", data):
                found.setdefault(name.decode(), {})[hashlib.sha256(data).digest()] = path
        return found

    def of_cubin(self, image):
        """The path of the PTX that the cubin was made from, or None."""
        try:
            for path in self._cubins.get(os.path.getsize(image), ()):
                if filecmp.cmp(image, path, shallow=False):
                    return path[:-len("cubin")] + "ptx"
        except OSError:
            pass
        return None

    def named_texts(self):
        """The paths of the .ptx in the folders that the user names."""
        return sorted({path for texts in self._kernels.values() for path in texts.values()})

    def of_kernel(self, name):
        """The paths that the user names, of texts with such a kernel."""
        return list(self._kernels.get(name, {}).values())


def _contents(path):
    try:
        with open(path, "rb") as source:
            data = source.read(MOST_TEXT + 1)
    except OSError:
        return b""
    return data if len(data) <= MOST_TEXT else b""
