--  The avatar redirect on GNAT.Sockets: one connection after the other, one request each, not understood.

with Ada.Command_Line;
with Ada.Numerics.Discrete_Random;
with Ada.Streams;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with GNAT.Sockets;

procedure Avatar is
   use Ada.Streams;
   use GNAT.Sockets;

   type Image is range 1 .. 21;
   package Random_Image is new Ada.Numerics.Discrete_Random (Image);

   CRLF : constant String := (1 => ASCII.CR, 2 => ASCII.LF);

   Generator : Random_Image.Generator;

   function Response return String is
      Number : constant String :=
        Ada.Strings.Fixed.Trim (Random_Image.Random (Generator)'Image, Ada.Strings.Left);
   begin
      return "HTTP/1.1 302 Found" & CRLF
        & "Location: https://avatar.spacefox.fr/Renard-" & Number & ".png" & CRLF
        & "Content-Length: 0" & CRLF
        & "Connection: close" & CRLF & CRLF;
   end Response;

   procedure Send (Client : Socket_Type; Text : String) is
      Bytes : Stream_Element_Array (1 .. Text'Length);
      for Bytes'Address use Text'Address;
      Last  : Stream_Element_Offset := 0;
   begin
      while Last < Bytes'Last loop
         Send_Socket (Client, Bytes (Last + 1 .. Bytes'Last), Last);
      end loop;
   end Send;

   procedure Answer (Client : Socket_Type) is
      Request : Stream_Element_Array (1 .. 1024);
      Last    : Stream_Element_Offset;
   begin
      Receive_Socket (Client, Request, Last);
      if Last >= Request'First then
         Send (Client, Response);
      end if;
      Close_Socket (Client);
   exception
      --  The client's error, and the next one waits.
      when Socket_Error => Close_Socket (Client);
   end Answer;

   Listener, Client : Socket_Type;
   Peer             : Sock_Addr_Type;
begin
   if Ada.Command_Line.Argument_Count /= 1 then
      Ada.Text_IO.Put_Line (Ada.Text_IO.Standard_Error, "usage: avatar PORT");
      Ada.Command_Line.Set_Exit_Status (2);
      return;
   end if;
   Random_Image.Reset (Generator);
   Create_Socket (Listener);
   Set_Socket_Option (Listener, Socket_Level, (Reuse_Address, True));
   Bind_Socket
     (Listener, (Family_Inet, Loopback_Inet_Addr, Port_Type'Value (Ada.Command_Line.Argument (1))));
   Listen_Socket (Listener, 1024);
   loop
      Accept_Socket (Listener, Client, Peer);
      Answer (Client);
   end loop;
end Avatar;
