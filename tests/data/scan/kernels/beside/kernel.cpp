void kernel_main() { cb_push_back(7, 1); cb_wait_front(7, 1); cb_wait_front(0, 1); }
