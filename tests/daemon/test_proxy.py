"""`--connect https://...`: a proxy with TLS in front of the daemon, as in deploy/proxy. It is nginx with that example where
nginx is installed, else a few lines here that do the same."""

import http.client
import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
import unittest

from server import BIN, DaemonTest

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy", "proxy", "nginx.conf")
TOKEN = "a-token-for-the-proxy"


class Forward(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        token = self.headers.get("Authorization", "")
        status, body = 401, b""
        if token:
            daemon = http.client.HTTPConnection("127.0.0.1", self.server.daemon_port)
            daemon.request("GET", self.path, headers={"Host": "localhost", "Authorization": token})
            answer = daemon.getresponse()
            status, body = answer.status, answer.read()
            daemon.close()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Proxy(DaemonTest):
    def setUp(self):
        super().setUp()
        self.token = os.path.join(self.folder, "token")
        with open(self.token, "w", encoding="ascii") as file:
            file.write(TOKEN)
        self.key, self.certificate = (os.path.join(self.folder, name) for name in ("key.pem", "cert.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", self.key, "-out", self.certificate],
                       check=True, capture_output=True)
        self.start_http("--quiet", "--token-file", self.token)
        if shutil.which("nginx"):
            self.start_nginx()
        else:
            print("nginx is not installed, its example is not tried; ", end="", flush=True)
            self.start_forward()

    def start_forward(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forward)
        proxy.socket = context.wrap_socket(proxy.socket, server_side=True)
        proxy.handle_error = lambda *_: None  # of those who do not trust the certificate
        proxy.daemon_port = self.port
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        self.proxy_port = proxy.server_port

    def start_nginx(self):
        """The example with other ports and certificates. All of its files are in the folder of the test."""
        with open(EXAMPLE, encoding="utf-8") as file:
            example = file.read()
        places = "".join(f"{kind}_temp_path {self.folder}/{kind};\n"
                         for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        log = os.path.join(self.folder, "nginx.log")
        for _ in range(10):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.proxy_port = probe.getsockname()[1]
            text = example
            for before, after in (("127.0.0.1:9740", f"127.0.0.1:{self.port}"),
                                  ("listen 443", f"listen 127.0.0.1:{self.proxy_port}"),
                                  ("/etc/ssl/tidemark/cert.pem", self.certificate),
                                  ("/etc/ssl/tidemark/key.pem", self.key)):
                self.assertIn(before, text)
                text = text.replace(before, after)
            with open(os.path.join(self.folder, "nginx.conf"), "w", encoding="utf-8") as file:
                file.write(f"daemon off; master_process off; pid {self.folder}/nginx.pid; error_log {log};\n"
                           f"events {{}}\nhttp {{\naccess_log off;\n{places}{text}\n}}\n")
            with open(log, "ab") as out:
                nginx = self.spawn([shutil.which("nginx"), "-p", self.folder, "-e", log, "-c",
                                    os.path.join(self.folder, "nginx.conf")], stdout=out, stderr=out)
            self.wait_for(lambda n=nginx: n.poll() is not None or self.answers(), "nginx")
            if nginx.poll() is None:
                return
        with open(log, encoding="utf-8") as file:
            self.fail(file.read())

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.proxy_port)) == 0

    def connect(self, command="status", host="localhost", token=True, trusts=True, code=0):
        """What the command says in JSON about the machine after the proxy."""
        environment = {k: v for k, v in os.environ.items() if k != "SSL_CERT_FILE"}
        if trusts:
            environment["SSL_CERT_FILE"] = self.certificate
        done = subprocess.run([os.path.join(BIN, "tidemark"), command, "--json", "--timeout", "30s", "--connect",
                               f"https://{host}:{self.proxy_port}", *(["--token-file", self.token] if token else [])],
                              env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)

    def test_a_machine_is_shown_through_tls_to_the_bearer_of_the_token(self):
        self.client().send(1, 0, 1000000, 0, id=1)
        self.wait_for(lambda: self.connect()["processes"], "the program")
        self.assertEqual([p["pid"] for p in self.connect()["processes"]], [os.getpid()])
        self.assertEqual(self.connect("leaks")["leaks"]["steady"], 1)

    def test_who_is_not_trusted_gets_no_token_and_the_user_is_told(self):
        def reason(**keys):
            host = self.connect(**keys, code=2)["status"]["hosts"][0]
            self.assertIsNone(host["age_ns"])
            return host["reason"]

        self.assertRegex(reason(trusts=False),
                         r"^SSL certificate problem: self.signed certificate.* \(SSL_CERT_FILE names a file of certificates to trust\)$")
        self.assertRegex(reason(host="127.0.0.1"), "certificate subject name .*127.0.0.1'$")
        self.assertEqual(reason(token=False), "HTTP status 401: it wants a token (--token-file)")


if __name__ == "__main__":
    unittest.main()
