"""The servers that bench_http.py compares, each on a port of its own: ours, nginx with static files, and the field's caches and
resizers, where they are installed."""

import importlib.util, json, os, shutil, signal, ssl, subprocess, sys, time, urllib.error, urllib.request

TICK = os.sysconf("SC_CLK_TCK")
# For the certificate of the benchmark.
ANYBODY = ssl._create_unverified_context()


class Server:
    """A running server and the CPU time of its processes."""

    def __init__(self, command, port, log, scheme="http"):
        self.port = port
        self.address = f"{scheme}://127.0.0.1:{port}"
        self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            self.wait(command[0], log.name)
        except BaseException:
            self.stop()
            raise

    def wait(self, name, log):
        """Until it answers."""
        for _ in range(200):
            if self.process.poll() is not None:
                sys.exit(f"{name} ended with {self.process.returncode}; its log is {log}")
            try:
                urllib.request.urlopen(f"{self.address}/health", timeout=1, context=ANYBODY)
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"{name} does not answer on port {self.port}; its log is {log}")

    def cpu(self):
        """Seconds of CPU time so far, the process and its children."""
        total = 0
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                parent, user, system = (int(open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[n]) for n in (1, 11, 12))
            except OSError:
                continue
            if self.process.pid in (int(name), parent):
                total += user + system
        return total / TICK

    def stop(self):
        # Its children too: thumbor's outlive it otherwise, and answer in place of the next one.
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                return


def certificate(room):
    """A certificate and its key below ROOM, as browsers meet them: ECDSA with P-256."""
    pair = f"{room}/certificate.pem", f"{room}/key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-out", pair[0], "-keyout", pair[1]], check=True, capture_output=True)
    return pair


def ours(program, room, port, name, memory, tls=None, sources="sample: { type: sample }", dialects=""):
    """Our server, by default with the sample source; its cache is below ROOM."""
    write(f"{room}/{name}.yaml", f"""
listen: 127.0.0.1:{port}
cache: {{ memory: {{ bytes: {memory}, expires: 1h }}, disk: {{ path: {room}/{name} }} }}
dialects: [{dialects}]
sources: {{ {sources} }}
""" + ("tls: {{ certificate: {}, key: {} }}\n".format(*tls) if tls else ""))
    return Server([program, "serve", "--config", f"{room}/{name}.yaml"], port, open(f"{room}/{name}.log", "w"),
                  "https" if tls else "http")


def mirror(program, room, port, origin):
    """Our server as a mirror of TMDB, whose answers are files of ORIGIN's port."""
    return ours(program, room, port, "mirror", "256MiB", dialects="tmdb", sources=f"""tmdb: {{ type: rest, manifest: tmdb, networks: [loopback],
        baseURL: "http://127.0.0.1:{origin}/3", variables: {{ token: none }} }}""")


def answers(room):
    """Writes answers of TMDB below ROOM/www: a film, and a list of 20."""
    def film(number):
        return {"adult": False, "backdrop_path": f"/backdrop{number}.jpg", "genre_ids": [18, 53, 35], "id": number, "original_language": "en",
                "original_title": f"Film {number}", "overview": "A plot in the length of most plots, of about four hundred bytes. " * 6,
                "popularity": 61.4, "poster_path": f"/poster{number}.jpg", "release_date": "1999-10-15", "title": f"Film {number}",
                "video": False, "vote_average": 8.4, "vote_count": 27000}

    os.makedirs(f"{room}/www/3/movie", exist_ok=True)
    cast = [{"id": n, "name": f"Name {n}", "character": f"Role {n}", "profile_path": f"/profile{n}.jpg", "order": n} for n in range(60)]
    write(f"{room}/www/3/movie/550", json.dumps({**film(550), "imdb_id": "tt0137523", "runtime": 139, "credits": {"cast": cast}}))
    found = [film(number) for number in range(1, 21)]
    write(f"{room}/www/3/movie/popular", json.dumps({"page": 1, "results": found, "total_pages": 1, "total_results": 20}))


# As its users tune it for files.
OPEN_FILES = "open_file_cache max=4000 inactive=600s; open_file_cache_valid 600s;"


def nginx(room, port, name="nginx", modules="", http=OPEN_FILES, location="", tls=None):
    """nginx, by default with the files below ROOM/www."""
    listen = f"listen 127.0.0.1:{port}"
    if tls:
        listen += " ssl http2; ssl_certificate {}; ssl_certificate_key {}; ssl_session_cache shared:tls:10m".format(*tls)
    os.chmod(room, 0o755)
    write(f"{room}/{name}.conf", f"""
{modules} worker_processes auto; daemon off; pid {room}/{name}.pid; error_log {room}/{name}.log;
events {{ worker_connections 1024; }}
http {{ types {{ image/jpeg jpg; }} access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
  {http}
  server {{ {listen}; root {room}/www; add_header Cache-Control 'public, max-age=86400'; {location} }} }}
""")
    return Server(["nginx", "-c", f"{room}/{name}.conf", "-e", f"{room}/{name}.log"], port, open(f"{room}/{name}.log", "w"),
                  "https" if tls else "http")


def proxy_cache(room, port, origin):
    """nginx as a cache of what ORIGIN's port serves."""
    os.makedirs(f"{room}/proxy", exist_ok=True)
    os.chmod(f"{room}/proxy", 0o777)
    return nginx(
        room, port, "proxy", http=f"proxy_cache_path {room}/proxy keys_zone=pictures:10m;",
        location=f"location / {{ proxy_pass http://127.0.0.1:{origin}; proxy_cache pictures; proxy_cache_valid 1h; }}")


def image_filter(room, port):
    """nginx that resizes ROOM/www/original.jpg for each request: it has no cache of its own."""
    module = "/usr/lib/nginx/modules/ngx_http_image_filter_module.so"
    if not os.path.exists(module):
        return None
    return nginx(
        room, port, "filter", modules=f"load_module {module};",
        location="location / { image_filter resize 500 750; image_filter_jpeg_quality 82; image_filter_buffer 20M; }")


def varnish(room, port, origin):
    """Varnish in front of ORIGIN's port, with its cache in memory."""
    if not shutil.which("varnishd"):
        return None
    write(f"{room}/varnish.vcl", f'vcl 4.1; backend pictures {{ .host = "127.0.0.1"; .port = "{origin}"; }}')
    command = ["varnishd", "-F", "-n", f"{room}/varnish", "-f", f"{room}/varnish.vcl", "-a", f"127.0.0.1:{port}", "-s", "malloc,256m"]
    return Server(command, port, open(f"{room}/varnish.log", "w"))


def thumbor(room, port):
    """thumbor with what it made kept in files, of which it makes the first from ROOM/www."""
    if not importlib.util.find_spec("thumbor"):
        return None
    write(f"{room}/thumbor.conf", f"""
LOADER = "thumbor.loaders.file_loader"
FILE_LOADER_ROOT_PATH = "{room}/www"
STORAGE = "thumbor.storages.no_storage"
RESULT_STORAGE = "thumbor.result_storages.file_storage"
RESULT_STORAGE_FILE_STORAGE_ROOT_PATH = "{room}/thumbor"
RESULT_STORAGE_STORES_UNSAFE = True
""")
    command = [sys.executable, "-m", "thumbor.server", "-c", f"{room}/thumbor.conf", "-i", "127.0.0.1", "-p", str(port),
               "--processes", str(os.cpu_count())]
    return Server(command, port, open(f"{room}/thumbor.log", "w"))


def write(path, text):
    open(path, "w").write(text)


def fetch(port, target, scheme="http"):
    with urllib.request.urlopen(f"{scheme}://127.0.0.1:{port}{target}", context=ANYBODY) as answer:
        return answer.read(), answer.headers
