<?php
// The study's own server before Java: three lines of PHP. Here on PHP's built-in server: one process, one connection after
// the other.
header('Location: https://avatar.spacefox.fr/Renard-' . random_int(1, 21) . '.png', true, 302);
